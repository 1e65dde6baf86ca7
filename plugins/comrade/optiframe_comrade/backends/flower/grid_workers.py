"""`Workers` over a Flower grid: the coordinator's half of a federation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
from flwr.app import ConfigRecord, Message, RecordDict
from pydantic import Field

from optiframe.problems.objectives.objective import FiniteSum
from optiframe_comrade.backends.backend import Backend
from optiframe_comrade.backends.flower.processes import FederationFailed
from optiframe_comrade.backends.flower.protocol import (
    RECORD,
    Work,
    most_bytes,
    read_reply,
    write_broadcast,
    write_work,
)
from optiframe_comrade.backends.flower.pulling import Inbox, Trouble
from optiframe_comrade.messages import Broadcast, Fault, Reply
from optiframe_comrade.parts.kinds import Compressor
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import Workers

_POLL = 0.2  # seconds between two looks at what has come; a look at 4 nodes takes some 20 ms
_GRACE = 3.5  # seconds: a node that is well looks for messages every 3
_TTL = 3600.0  # seconds a message lives where the round has no deadline


class GridWorkers:
    """Implements `Workers` by messages over a Flower `Grid`, polled here.

    `Grid.send_and_receive` sleeps 3 s between two looks; this looks every 0.2 s. A node that
    misses a deadline is still asked in later rounds, but the round no longer waits for it
    alone: else one dead node would cost every round its whole deadline.

    Nobody is believed about how many terms he holds: all count the same.

    Parameters
    ----------
    grid
        A `flwr.serverapp.Grid`.
    nodes
        Flower's numbers of the nodes; worker i is `nodes[i]`.
    work
        How nodes are to work; sent with every broadcast.
    compressor
        The object that `work` names; says how long a reply may be.
    """

    def __init__(self, grid: Any, nodes: Sequence[int], work: Work, compressor: Compressor) -> None:
        self.grid, self.nodes = grid, list(nodes)
        self.work, self.compressor = work, compressor
        self.names = [f"node {node}" for node in nodes]
        self.sizes = [1] * len(self.nodes)
        self._silent: set[int] = set()  # who missed the last deadline

    def __len__(self) -> int:
        return len(self.nodes)

    def ask(
        self, broadcast: Broadcast, deadline: float | None = None, to: Sequence[int] | None = None
    ) -> list[Reply | Fault]:
        try:
            return self._ask(broadcast, deadline, to)
        except httpx.HTTPError as error:
            status = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else 500
            if status < 500:
                raise FederationFailed(
                    f"round {broadcast.round}: Flower's SuperLink does not know this run any more (HTTP "
                    f"{status}): it was restarted, or somebody ended the run"
                ) from error
            raise FederationFailed(
                f"round {broadcast.round}: Flower's SuperLink is out of reach "
                f"({str(error) or type(error).__name__}); it has died or hangs, or the network is "
                "down: start the run again when it is back"
            ) from error

    def _ask(
        self, broadcast: Broadcast, deadline: float | None, to: Sequence[int] | None
    ) -> list[Reply | Fault]:
        asked = list(range(len(self)) if to is None else to)
        ends = None if deadline is None else time.monotonic() + deadline
        pending = self._push(broadcast, asked, deadline)
        replies: dict[int, Reply | Fault] = {}
        inbox = Inbox(self.grid, most_bytes(self._most(broadcast)))
        while pending:
            for number, worker in list(pending.items()):
                came = inbox.take(number)
                if came is None:
                    continue
                del pending[number]
                replies[worker] = self._opened(worker, broadcast, came)
                self._silent.discard(worker)
            if not pending or (ends is not None and time.monotonic() >= ends):
                break
            if self._silent.issuperset(pending.values()) and len(replies) > 0:
                # Only those are missing who were before: a node that lives has had its chance.
                grace = time.monotonic() + _GRACE
                ends = grace if ends is None or grace < ends else ends
            time.sleep(_POLL)
        self._silent.update(pending.values())
        for worker in asked:
            replies.setdefault(worker, Fault.silent(worker, broadcast.round))
        return [replies[worker] for worker in asked]

    def close(self) -> None:
        """Nothing: the nodes live on."""

    def _most(self, broadcast: Broadcast) -> int:
        plain = 8 * broadcast.size
        encodes = broadcast.compressible and self.compressor.encodes
        return max(plain, self.compressor.most_bytes(broadcast.size)) if encodes else plain

    def _push(self, broadcast: Broadcast, asked: Sequence[int], deadline: float | None) -> dict[str, int]:
        """Send; the numbers of the messages, with the worker each went to."""
        values = write_broadcast(broadcast) | write_work(self.work)
        # One message more than the deadline old is of no use to anyone: let Flower forget it.
        ttl = _TTL if deadline is None else deadline + _GRACE
        messages = [
            Message(
                RecordDict({RECORD: ConfigRecord(dict(values))}),
                self.nodes[worker],
                "train",
                ttl=ttl,
                group_id=str(broadcast.round),
            )
            for worker in asked
        ]
        numbers = self.grid.push_messages(messages)
        return {number: worker for number, worker in zip(numbers, asked, strict=True) if number}

    def _opened(self, worker: int, broadcast: Broadcast, came: Any) -> Reply | Fault:
        if isinstance(came, Trouble):
            return Fault(worker, broadcast.round, came.kind, came.text)
        return read_reply(worker, broadcast, came)


class Ready(Backend):
    """A backend whose workers are there already; for code, not for configuration files."""

    name = "backend.ready"

    found: Callable[[WorkerConfig], Workers] = Field(
        description="gives the workers for the configuration of a run"
    )

    def start(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> Workers:
        return self.found(config)
