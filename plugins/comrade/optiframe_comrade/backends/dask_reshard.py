"""Whose shard moves to another process in a round on Dask, and where it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from optiframe.problems.objectives.objective import FiniteSum
from optiframe_comrade.messages import Broadcast, Fault, Reply
from optiframe_comrade.protocol.reply_checks import open_reply
from optiframe_comrade.protocol.worker import WorkerConfig

# Processes a shard is tried on in a row without a usable reply: what kills or spoils three is the
# shard's own doing (Dask gives a task up after as many).
_TRIES = 3


class Resharder:
    """Keeps the shards, and decides; what it decides is done by `DaskWorkers`.

    A process that was late or sent what is not usable gets no other shard while there are processes
    that did neither. Of those the one with the fewest workers is taken, the first by address of equals.

    Parameters
    ----------
    shards, config
        Of all workers; the shards are kept, so that the coordinator holds the data as long as the run lasts.
    """

    def __init__(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> None:
        self.shards, self.config = list(shards), config
        self._tries = [1] * len(self.shards)  # since the last usable reply
        self._shunned: set[str] = set()

    def lost(
        self, replies: Mapping[int, Reply | Fault], asked: Broadcast, spared: Collection[int]
    ) -> list[Fault]:
        """The faults of a round whose workers are to be moved; none beyond the budget, which ends the run.

        Parameters
        ----------
        replies
            What came of the round, by worker.
        asked
            The round's broadcast.
        spared
            Workers not to be moved, whatever they sent.
        """
        faults = []
        for number, said in replies.items():
            # The coordinator opens what it gets as well, and decides: here it is only whether to ask again.
            opened = open_reply(said, asked, self.config.compressor) if isinstance(said, Reply) else said
            if isinstance(opened, Fault):
                faults.append(opened)
            else:
                self._tries[number] = 1
        if len(faults) > self.config.trim:
            return []
        return [fault for fault in faults if fault.worker not in spared]

    def shun(self, places: Iterable[str]) -> None:
        """Give these processes no other shard, while there are others."""
        self._shunned.update(places)

    def target(self, worker: int, places: Mapping[int, str], processes: Collection[str]) -> str | None:
        """The address for the shard of a worker that was lost; None when it is not to be tried again.

        Parameters
        ----------
        worker
            Its number.
        places
            Where each worker lives that is still asked, this one included.
        processes
            Addresses of the cluster's processes; none when its scheduler does not say.
        """
        if self._tries[worker] == _TRIES:
            return None
        there = set(processes or places.values()) - {places[worker]}
        if not there:
            return None
        self._tries[worker] += 1
        load = Counter(places.values())
        return min(there - self._shunned or there, key=lambda place: (load[place], place))

    def why(self, fault: Fault) -> str:
        """Why a worker is asked no more, for the books."""
        tries = self._tries[fault.worker]
        tried = f"{tries} processes in a row" if tries > 1 else "no other process is there, and its own"
        return f"is not asked any more: {tried} gave no usable reply ({fault.kind}: {fault.text})"
