"""Workers on a Dask cluster: each holds its shard, and the coordinator waits no longer than it must.

Dask's own future of an actor's method never ends when the worker dies at the wrong moment, or
sends what cannot be read. Here every wait has an end, and a death that Dask's scheduler notices
ends it at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from optiframe.dask_connection import DaskConnection
from optiframe.errors import OptiframeError, require
from optiframe.problems.objectives.objective import FiniteSum
from optiframe_comrade.backends.dask_actor import ActorHandle, let_go, packed
from optiframe_comrade.backends.dask_reshard import Resharder
from optiframe_comrade.backends.dask_rows import DaskShard
from optiframe_comrade.messages import Broadcast, Fault, Reply
from optiframe_comrade.protocol.ledger import Move
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import WorkersLost

_LISTING = 5.0  # seconds for the scheduler to say which processes there are; it answers in milliseconds
_LOOK = 1.0  # seconds between looks at who has died while shards travel
_GLANCE = 0.1  # seconds between looks at who has died: short beside a deadline, long beside a look


class SchedulerLost(WorkersLost):
    """Dask's scheduler is gone, and with it all actors; the processes may be alive."""


class DaskWorkers:
    """Implements `Workers` on a Dask cluster; closes the connection it is given.

    Worker i is an actor on the cluster's process i modulo their number. With `reshard` a worker whose
    reply is missing or unusable is started again on another process and asked again, in the same
    round, so that the round is what it would have been (see `Resharder`). Without, it is not moved: when
    its process dies it is gone for the rest of the run, and one that has missed a deadline is asked
    again when it has answered. Until then it is waited for only where the round would otherwise have
    more faults than the trim budget. So a stopped worker costs one deadline, not one a round.
    """

    def __init__(
        self,
        connection: DaskConnection,
        shards: Sequence[FiniteSum],
        config: WorkerConfig,
        starting: float,
        reshard: bool = True,
    ) -> None:
        self._connection: DaskConnection | None = connection
        self._client, self._trim = connection.client, config.trim
        self._address = connection.client.scheduler.address
        self._byzantine = frozenset(config.byzantine)
        self._starting, self._run = starting, uuid4().hex[:12]
        self.sizes = [len(shard) for shard in shards]
        places = _places(connection, shards)
        self.names = [_named(number, place) for number, place in enumerate(places)]
        self.moves: list[Move] = []
        self._resharder = Resharder(shards, config) if reshard else None
        self._handles = [self._handle(number, place) for number, place in enumerate(places)]
        self._lost: dict[int, str] = {}  # why a worker is not asked any more
        self._given_up: set[int] = set()  # of those lost, whose shards are not moved any more
        self._open: dict[int, asyncio.Task[Any]] = {}  # the question a worker has not answered yet
        self._sync("while shards were sent", self._load, shards, config)

    def __len__(self) -> int:
        return len(self.sizes)

    def ask(
        self, broadcast: Broadcast, deadline: float | None = None, to: Sequence[int] | None = None
    ) -> list[Reply | Fault]:
        asked = list(range(len(self)) if to is None else to)
        replies = self._sync(f"round {broadcast.round}", self._round, broadcast, deadline, asked)
        return [replies[number] for number in asked]

    def _sync(self, when: str, task: Any, *arguments: Any) -> Any:
        """Run a task on the client's event loop; whatever the scheduler's death makes of it has one name."""
        try:
            found = self._client.sync(task, *arguments)
        except (Exception, asyncio.CancelledError):
            if self._connected:
                raise
            raise self._scheduler_lost(when) from None
        if not self._connected:  # workers that Dask has given up since, all alive
            raise self._scheduler_lost(when)
        return found

    @property
    def _connected(self) -> bool:
        """Whether the scheduler is there; looked at without asking it anything."""
        link = self._client.scheduler_comm
        return self._client.status == "running" and link is not None and not link.closed()

    def _scheduler_lost(self, when: str) -> SchedulerLost:
        return SchedulerLost(
            f"backend.dask, {when}: Dask's scheduler at {self._address} is gone. It knew where the workers "
            "are, so the run cannot go on; start the scheduler and its workers again, and run again"
        )

    def close(self) -> None:
        if self._connection is None:
            return
        connection, self._connection = self._connection, None
        with suppress(TimeoutError, OSError):
            self._client.sync(self._forget, callback_timeout=5)  # nothing but a call to our own thread
        self._handles.clear()
        connection.close()

    def _handle(self, number: int, place: str) -> ActorHandle:
        times = sum(move.fault.worker == number for move in self.moves)
        return ActorHandle(self._client, place, f"optiframework-comrade-{self._run}-{number}-{times}")

    async def _load(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> None:
        loads = {
            number: handle.load(packed(number, shard, config), _key(shard))
            for number, (handle, shard) in enumerate(zip(self._handles, shards, strict=True))
        }
        await self._loaded(loads)
        for task in loads.values():
            error = None if not task.done() or task.cancelled() else task.exception()
            if isinstance(error, OptiframeError):  # an attack that cannot work on this objective
                raise error

    async def _loaded(self, loads: dict[int, asyncio.Task[None]]) -> None:
        """Wait for shards to arrive; whoever does not take its shard in time, or dies meanwhile, is lost."""
        end, died = time.monotonic() + self._starting, set[int]()
        waiting = dict(loads)
        while waiting and (left := end - time.monotonic()) > 0 and self._connected:
            await asyncio.wait(waiting.values(), timeout=min(left, _LOOK))
            waiting = {number: task for number, task in waiting.items() if not task.done()}
            # Of a process that dies before its actor is there, Dask tells nobody; only the list of them does.
            processes = await self._processes() if waiting else ()
            if processes:
                died |= {number for number in waiting if self._handles[number].place not in processes}
            waiting = {number: task for number, task in waiting.items() if number not in died}
        for number, task in loads.items():
            if number in died:
                task.cancel()
                self._lost[number] = "died while it took its shard"
            elif not task.done() or task.cancelled():
                task.cancel()
                self._lost[number] = f"did not take its shard within {self._starting:g} s"
            elif (error := task.exception()) is not None:
                self._lost[number] = f"failed while it took its shard: {error!s:.80}"

    async def _round(
        self, asked: Broadcast, deadline: float | None, to: Sequence[int]
    ) -> dict[int, Reply | Fault]:
        replies = await self._answers(asked, deadline, to)
        while (
            self._connected
            and self._resharder is not None
            and (lost := self._to_move(self._resharder, replies, asked))
        ):
            processes = await self._processes()
            loads = {fault.worker: self._move(self._resharder, fault, asked, processes) for fault in lost}
            again = {number: load for number, load in loads.items() if load is not None}
            await self._loaded(again)
            replies |= await self._answers(asked, deadline, list(again))
        return replies

    async def _answers(
        self, asked: Broadcast, deadline: float | None, to: Sequence[int]
    ) -> dict[int, Reply | Fault]:
        end = None if deadline is None else time.monotonic() + deadline
        replies: dict[int, Reply | Fault] = {}
        awaited, behind = set[int](), set[int]()

        def faults() -> int:
            return len(behind) + sum(isinstance(each, Fault) for each in replies.values())

        for number in to:
            if number in self._lost:
                replies[number] = Fault(number, asked.round, "crashed", self._lost[number])
            elif number in self._open and not self._open[number].done():
                behind.add(number)  # still at an earlier question
            else:
                self._put(number, asked)
                awaited.add(number)
        while self._connected and (awaited or (behind and faults() > self._trim)):
            left = _GLANCE if end is None else min(_GLANCE, end - time.monotonic())
            if left <= 0:
                break
            open_now = {self._open[number]: number for number in awaited | behind}
            done, _ = await asyncio.wait(open_now, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task, number in open_now.items():
                if number in behind and task in done:  # what it says is of an earlier round
                    behind.remove(number)
                    self._put(number, asked)
                    awaited.add(number)
                elif task in done or self._handles[number].gone:
                    awaited.discard(number)
                    behind.discard(number)
                    replies[number] = self._delivered(number, asked, task)
        for number in awaited | behind:
            replies[number] = Fault.silent(number, asked.round)
        return replies

    def _put(self, number: int, asked: Broadcast) -> None:
        """Send the question; the answer to the one before is let go."""
        self._drop_question(number)
        self._open[number] = asyncio.ensure_future(self._handles[number].ask(asked))

    def _drop_question(self, number: int) -> None:
        if number in self._open:
            let_go(self._open.pop(number))

    def _delivered(self, number: int, asked: Broadcast, task: asyncio.Task[Any]) -> Reply | Fault:
        """What has come of a question that has ended, or whose worker has."""

        def fault(kind: Any, text: str) -> Fault:
            return Fault(number, asked.round, kind, text)

        if self._handles[number].gone or task.cancelled():
            self._drop_question(number)
            self._lost[number] = "is gone: the process it lived in has died"
            return fault("crashed", self._lost[number])
        error = task.exception()
        if isinstance(error, OSError):
            return fault("crashed", f"cannot be reached: {error!s:.80}")
        if error is not None:
            return Fault.failed(number, asked.round, error)
        sent = task.result()
        if isinstance(sent, Fault):
            return fault(sent.kind, sent.text)
        try:
            return Reply(number, *sent)
        except Exception:  # not two things, and perhaps an object made to annoy
            return fault("wrong-type", f"sent a {type(sent).__name__} that is no reply")

    def _to_move(
        self, resharder: Resharder, replies: dict[int, Reply | Fault], asked: Broadcast
    ) -> list[Fault]:
        lost = resharder.lost(replies, asked, {number for number in replies if self._spared(number)})
        resharder.shun(self._handles[fault.worker].place for fault in lost)
        return lost

    def _spared(self, number: int) -> bool:
        """Whether a worker stays where it is, whatever it has sent."""
        if number in self._given_up:
            return True
        # What a simulated attack does is no fault of the machine, and goes where the worker goes.
        real = number in self._lost or (number in self._open and not self._open[number].done())
        return number in self._byzantine and not real

    async def _processes(self) -> tuple[str, ...]:
        """Addresses of the cluster's processes, those started again too; none if the scheduler is silent."""
        try:
            return tuple(await asyncio.wait_for(self._client.scheduler.ncores(), _LISTING))
        except (OSError, TimeoutError):
            return ()

    def _move(
        self, resharder: Resharder, fault: Fault, asked: Broadcast, processes: Sequence[str]
    ) -> asyncio.Task[None] | None:
        """Start a lost worker again elsewhere, and send it its shard; or give it up."""
        number, old = fault.worker, self._handles[fault.worker]
        self._drop_question(number)
        old.leave()
        places = {
            each: handle.place for each, handle in enumerate(self._handles) if each not in self._given_up
        }
        target = resharder.target(number, places, processes)
        if target is None:
            self._given_up.add(number)
            self._lost[number] = resharder.why(fault)
            return None
        self._lost.pop(number, None)
        rows = resharder.shards[number]
        shard = packed(number, rows, resharder.config, asked.round)
        size = asked.nbytes + sum(memoryview(part).nbytes for part in shard)
        size += rows.nbytes if isinstance(rows, DaskShard) else 0
        self.moves.append(Move(fault, old.place, target, size))
        self.names[number] = _named(number, target)
        self._handles[number] = self._handle(number, target)
        return self._handles[number].load(shard, _key(rows))

    async def _forget(self) -> None:
        for number in list(self._open):
            self._open[number].cancel()
        await asyncio.gather(*self._open.values(), return_exceptions=True)
        self._open.clear()
        for handle in self._handles:
            handle.leave()


def _places(connection: DaskConnection, shards: Sequence[FiniteSum]) -> list[str]:
    """The process for each worker: where its rows are, or one after the other."""
    addresses = connection.addresses
    futures = [
        require("distributed", "dask").Future(shard.key, connection.client)
        for shard in shards
        if isinstance(shard, DaskShard)
    ]
    lies = dict(connection.client.who_has(futures)) if futures else {}
    known = [sorted(set(lies.get(_key(shard), ())) & set(addresses)) for shard in shards]
    return [here[0] if here else addresses[at % len(addresses)] for at, here in enumerate(known)]


def _key(shard: FiniteSum) -> str | None:
    """The key of rows that are on the cluster; None for rows that are sent there."""
    return shard.key if isinstance(shard, DaskShard) else None


def _named(number: int, place: str) -> str:
    return f"worker {number} at {place}"
