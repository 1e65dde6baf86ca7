"""Workers as actors on a Dask cluster: each holds its shard, and the centre waits no longer than it must.

Dask's own future of an actor's method never ends when the worker dies at the wrong moment, or
sends what cannot be read. Here every wait has an end, and a death that Dask's scheduler notices
ends it at once.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import numpy as np

from optiframe.errors import OptiframeError, Unsuited, require
from optiframe.objectives import FiniteSum
from optiframe.values import Array
from optiframe_comrade.dask_cluster import Connection
from optiframe_comrade.messages import Broadcast, Fault, Reply
from optiframe_comrade.parts import NoReply
from optiframe_comrade.worker import NotFinite, Orders, Worker

_GLANCE = 0.1  # seconds between looks at who has died: short beside a deadline, long beside a look


class Seat:
    """The actor: one worker, on the machine that computes. Its shard comes once and stays."""

    def __init__(self) -> None:
        self.worker: Worker | None = None

    def load(self, pickled: bytes, *buffers: Array) -> None:
        """Build the worker from what `_packed` has made ready."""
        self.worker = Worker(*pickle.loads(pickled, buffers=[_aligned(buffer) for buffer in buffers]))

    def reply(self, round: int, kind: str, point: Array, arrays: Mapping[str, Array]) -> Any:
        """Round and payload of the reply; under an attack that sends none, the kind of the fault."""
        assert self.worker is not None  # nobody is asked before `load` has ended
        try:
            there = {name: _aligned(array) for name, array in arrays.items()}
            reply = self.worker.reply(Broadcast(round, kind, _aligned(point), there))
        except NoReply as silence:
            return silence.kind
        return reply.round, reply.payload


class DaskWorkers:
    """Implements `Workers` on a Dask cluster; closes the connection it is given.

    Worker i is an actor on the cluster's process i modulo their number, and is not moved: when
    the process dies, the worker is gone for the rest of the run. One that has missed a deadline is
    asked again when it has answered, and until then waited for only where the round would otherwise
    have more faults than the trim budget. So a stopped worker costs one deadline, not one a round.
    """

    def __init__(
        self, connection: Connection, shards: Sequence[FiniteSum], orders: Orders, starting: float
    ) -> None:
        distributed = require("distributed", "dask")
        self._connection: Connection | None = connection
        self._client, self._trim = connection.client, orders.trim
        self.sizes = [len(shard) for shard in shards]
        addresses = connection.addresses
        places = [addresses[number % len(addresses)] for number in range(len(shards))]
        self.names = [f"worker {number} at {place}" for number, place in enumerate(places)]
        run = uuid4().hex[:12]
        self._futures = [
            self._client.submit(
                Seat,
                actor=True,
                workers=[place],
                allow_other_workers=False,
                key=f"optiframe-comrade-{run}-{number}",
                pure=False,
            )
            for number, place in enumerate(places)
        ]
        with self._client.as_current():  # an actor's handle belongs to the client current when it is made
            self._actors = [
                distributed.Actor(Seat, place, future.key)
                for place, future in zip(places, self._futures, strict=True)
            ]
        self._lost: dict[int, str] = {}  # why a worker is not asked any more
        self._open: dict[int, asyncio.Task[Any]] = {}  # the question a worker has not answered yet
        self._client.sync(self._load, shards, orders, starting)

    def __len__(self) -> int:
        return len(self.sizes)

    def ask(
        self, broadcast: Broadcast, deadline: float | None = None, to: Sequence[int] | None = None
    ) -> list[Reply | Fault]:
        asked = list(range(len(self)) if to is None else to)
        heard = self._client.sync(self._round, broadcast, deadline, asked)
        return [heard[number] for number in asked]

    def close(self) -> None:
        if self._connection is None:
            return
        connection, self._connection = self._connection, None
        with suppress(TimeoutError, OSError):
            self._client.sync(self._forget, callback_timeout=5)  # nothing but a call to our own thread
        self._actors.clear()
        self._futures.clear()
        connection.close()

    async def _load(self, shards: Sequence[FiniteSum], orders: Orders, patience: float) -> None:
        async def load(number: int, shard: FiniteSum) -> None:
            await self._futures[number]
            await self._actors[number].load(*_packed(number, shard, orders))

        loads = [asyncio.ensure_future(load(number, shard)) for number, shard in enumerate(shards)]
        await asyncio.wait(loads, timeout=patience)
        refusals = []
        for number, task in enumerate(loads):
            if not task.done() or task.cancelled():
                task.cancel()
                self._lost[number] = f"did not take its shard within {patience:g} s"
            elif (error := task.exception()) is not None:
                self._lost[number] = f"failed while it took its shard: {error!s:.80}"
                refusals.append(error)
        for error in refusals:
            if isinstance(error, OptiframeError):  # an attack that cannot work on this objective
                raise error

    async def _round(
        self, asked: Broadcast, deadline: float | None, to: Sequence[int]
    ) -> dict[int, Reply | Fault]:
        end = None if deadline is None else time.monotonic() + deadline
        heard: dict[int, Reply | Fault] = {}
        awaited, behind = set[int](), set[int]()

        def faults() -> int:
            return len(behind) + sum(isinstance(each, Fault) for each in heard.values())

        for number in to:
            if number in self._lost:
                heard[number] = Fault(number, asked.round, "crashed", self._lost[number])
            elif number in self._open and not self._open[number].done():
                behind.add(number)  # still at an earlier question
            else:
                self._put(number, asked)
                awaited.add(number)
        while awaited or (behind and faults() > self._trim):
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
                elif task in done or self._died(number):
                    awaited.discard(number)
                    behind.discard(number)
                    heard[number] = self._delivered(number, asked, task)
        for number in awaited | behind:
            heard[number] = Fault(number, asked.round, "late", "no reply by the deadline")
        return heard

    def _put(self, number: int, asked: Broadcast) -> None:
        """Send the question; the answer to the one before is let go."""
        if number in self._open:
            self._let_go(self._open.pop(number))
        self._open[number] = asyncio.ensure_future(self._call(number, asked))

    @staticmethod
    def _let_go(task: asyncio.Task[Any]) -> None:
        if not task.done():
            task.cancel()
        elif not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain of it

    async def _call(self, number: int, asked: Broadcast) -> Any:
        ask = self._actors[number].reply  # raises when the actor is known to be lost
        return await ask(asked.round, asked.kind, asked.point, dict(asked.arrays))

    def _died(self, number: int) -> bool:
        """Whether Dask's scheduler has given the actor up."""
        return str(self._futures[number].status) != "finished"

    def _delivered(self, number: int, asked: Broadcast, task: asyncio.Task[Any]) -> Reply | Fault:
        """What has come of a question that has ended, or whose worker has."""

        def fault(kind: Any, text: str) -> Fault:
            return Fault(number, asked.round, kind, text)

        if self._died(number) or task.cancelled():
            self._let_go(self._open.pop(number))
            self._lost[number] = "is gone: the process it lived in has died"
            return fault("crashed", self._lost[number])
        error = task.exception()
        if isinstance(error, OSError):
            return fault("crashed", f"cannot be reached: {error!s:.80}")
        if isinstance(error, NotFinite):
            return fault("not-finite", str(error))
        if error is not None:
            return fault("crashed", f"its computation failed: {error!s:.80}")
        sent = task.result()
        if isinstance(sent, str):
            late = sent == "late"
            return (
                fault("late", "no reply by the deadline") if late else fault("crashed", "the worker is gone")
            )
        try:
            return Reply(number, *sent)
        except Exception:  # not two things, and perhaps an object made to annoy
            return fault("wrong-type", f"sent a {type(sent).__name__} that is no reply")

    async def _forget(self) -> None:
        for task in self._open.values():
            task.cancel()
        await asyncio.gather(*self._open.values(), return_exceptions=True)
        self._open.clear()


def _packed(*hired: Any) -> list[Any]:
    """The arguments of `Seat.load`: those of a worker without their arrays, and the arrays, not copied."""
    dumps = require("distributed.protocol.pickle", "dask").dumps
    buffers: list[pickle.PickleBuffer] = []
    try:
        pickled = dumps(hired, buffer_callback=buffers.append)
    except Exception as error:
        raise Unsuited(
            f"home.dask: the objective or a part cannot be sent to another process ({error!s:.120}); "
            "use functions and classes that pickle, or home = 'in-process'"
        ) from None
    return [pickled, *(np.frombuffer(buffer.raw(), dtype=np.uint8) for buffer in buffers)]


def _aligned(array: Array) -> Array:
    """The array at an address that suits its numbers.

    Dask leaves what it receives where it lies in its message. NumPy then copies it at each use,
    and goes another way through BLAS, so that the last bits differ from those in one process.
    """
    return array if array.ctypes.data % 16 == 0 else array.copy()
