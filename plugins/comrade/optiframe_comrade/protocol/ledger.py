"""What a distributed run cost and whom it left out: the detail of every solver here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_comrade.messages import Fault


@dataclass(frozen=True)
class Exchange:
    """One broadcast and what came back.

    Attributes
    ----------
    round, kind
        The broadcast's number and kind.
    asked
        How many workers it went to.
    bytes_down, bytes_up
        Payload both ways, over all workers asked, that of refused replies included.
    trimmed
        Workers whose reply arrived whole and was left out.
    filtered
        Whether some might have been: line searches, sketches and rejected steps go through no filter.
    faults
        Workers without a usable reply, and why.
    """

    round: int
    kind: str
    asked: tuple[int, ...]
    bytes_down: int
    bytes_up: int
    trimmed: tuple[int, ...] = ()
    filtered: bool = False
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Move:
    """One shard, sent to another machine.

    Attributes
    ----------
    fault
        Whose shard it was, in which round it was lost, and how. From that round on the worker
        of that number answers from its new place.
    source, target
        Addresses.
    nbytes
        Bytes sent there: the shard, how to work on it, and the round's broadcast once more.
    """

    fault: Fault
    source: str
    target: str
    nbytes: int

    def __str__(self) -> str:
        return (
            f"round {self.fault.round}: worker {self.fault.worker} at {self.source} was lost "
            f"({self.fault.kind}: {self.fault.text}); its rows went to {self.target} ({self.nbytes} bytes)"
        )


@dataclass
class Ledger:
    """All exchanges of a run, in order, and the points they led to.

    `points` holds the solver's iterates (8 d bytes each), so that accuracy can be drawn against
    rounds and bytes afterwards; `costs` holds rounds, bytes up and bytes down at each. There is one
    ledger for a run: it goes on to the run's end, also where an earlier iterate is the answer.
    `moves` are the shards that went to another machine when theirs was lost, with the fault, which is
    none of the round when the reply came from there in time; their bytes, as those of the shards first
    handed out, are not in `bytes_down`, nor is a reply refused before a move in `bytes_up`. `exiled` names
    workers no longer asked at all, with their outlier score (`newton.polished`). `rejected` has the rounds
    whose point was not accepted, since the workers' objectives rose. `unpolished` says that
    `newton.polished` went back to the error floor, since they rose by its steps from there.
    """

    names: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)
    costs: list[tuple[int, int, int]] = field(default_factory=list)
    bytes_up: int = 0
    bytes_down: int = 0
    exiled: dict[str, float] = field(default_factory=dict)
    moves: Sequence[Move] = ()
    rejected: list[int] = field(default_factory=list)
    unpolished: bool = False
    _apart: dict[int, Array] = field(default_factory=dict)

    def __deepcopy__(self, memo: dict[int, object]) -> Ledger:
        # The core copies the detail of the iterate it keeps; books are of the whole run.
        return self

    @property
    def rounds(self) -> int:
        """Broadcasts so far; each is a round of communication."""
        return len(self.exchanges)

    def add(self, exchange: Exchange) -> None:
        """Enter an exchange."""
        self.exchanges.append(exchange)
        self.bytes_up += exchange.bytes_up
        self.bytes_down += exchange.bytes_down

    def measured(self, round: int, senders: Sequence[int], apart: Array) -> None:
        """Enter how far the workers' updates are from their middle; nan for who sent none."""
        every = np.full(len(self.names), np.nan)
        every[list(senders)] = apart
        self._apart[round] = every

    @property
    def apart(self) -> list[Array]:
        """Squared distances of updates from their middle, shape (m,), nan for a worker without one.

        One array for each round of Newton updates that a filter measured by the Hessian.
        """
        return [self._apart[round] for round in sorted(self._apart)]

    def trim(self, round: int, workers: tuple[int, ...]) -> None:
        """Enter whom the filter left out in an exchange."""
        self.exchanges[round - 1] = replace(self.exchanges[round - 1], trimmed=workers, filtered=True)

    @property
    def faults(self) -> list[Fault]:
        """Every fault, in order."""
        return [fault for each in self.exchanges for fault in each.faults]

    def reached(self, point: Array) -> None:
        """Note a point the solver has reached."""
        self.points.append(point.copy())
        self.costs.append((self.rounds, self.bytes_up, self.bytes_down))

    def suspicion(self) -> Array:
        """For each worker, the share of filtered exchanges it was asked in that went on without its reply.

        0 for a worker that was always used, 1 for one that never was. Where b of m are left out
        every round, the shares average b/m whether or not anybody lies: a high one is no proof.
        """
        asked, left_out = np.zeros(len(self.names)), np.zeros(len(self.names))
        for each in self.exchanges:
            if not (each.filtered or each.faults):
                continue
            asked[list(each.asked)] += 1
            left_out[list(each.trimmed)] += 1
            left_out[[fault.worker for fault in each.faults]] += 1
        return np.asarray(left_out / np.maximum(asked, 1))

    def workers(self) -> Columns:
        """One row a worker: name, share of rounds without it, rounds left out by the filter, faults."""
        return {
            "worker": list(self.names),
            "left_out": self.suspicion(),
            "trimmed": self._count(number for each in self.exchanges for number in each.trimmed),
            "faults": self._count(fault.worker for fault in self.faults),
        }

    def table(self) -> Columns:
        """One row an exchange: round, kind, bytes both ways, who was trimmed, who was faulty and how."""
        named = self.names
        return {
            "round": [each.round for each in self.exchanges],
            "kind": [each.kind for each in self.exchanges],
            "bytes_up": [each.bytes_up for each in self.exchanges],
            "bytes_down": [each.bytes_down for each in self.exchanges],
            "trimmed": [", ".join(named[i] for i in each.trimmed) for each in self.exchanges],
            "faults": [
                ", ".join(f"{named[f.worker]}: {f.kind}" for f in each.faults) for each in self.exchanges
            ],
        }

    def tables(self) -> dict[str, Columns]:
        """What the command line writes beside the answer: `workers`, `rounds`, and `moves` if any."""
        moved: Columns = {
            "round": [move.fault.round for move in self.moves],
            "worker": [move.fault.worker for move in self.moves],
            "fault": [move.fault.kind for move in self.moves],
            "source": [move.source for move in self.moves],
            "target": [move.target for move in self.moves],
            "bytes": [move.nbytes for move in self.moves],
        }
        return {"workers": self.workers(), "rounds": self.table()} | ({"moves": moved} if self.moves else {})

    def _count(self, numbers: Iterable[int]) -> NDArray[np.int64]:
        return np.asarray(
            np.bincount(np.fromiter(numbers, dtype=np.int64), minlength=len(self.names)), dtype=np.int64
        )
