"""A worker as an actor on a Dask cluster, and the coordinator's handle of it."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from optiframe.errors import Unsuited, require
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.messages import Broadcast, Fault
from optiframe_comrade.protocol.worker import Worker, WorkerConfig


class WorkerActor:
    """The actor: one worker, on the machine that computes. Its shard comes once and stays."""

    def __init__(self) -> None:
        self.worker: Worker | None = None

    def load(self, rows: str | None, pickled: bytes, *buffers: Array) -> None:
        """Build the worker from what `packed` has made ready; `rows` names those that lie in this process."""
        number, shard, config, round = pickle.loads(pickled, buffers=[_aligned(buffer) for buffer in buffers])
        if rows is not None:
            shard = require("distributed", "dask").get_worker().data[rows]
        self.worker = Worker(number, shard, config)
        if round > 1:
            self.worker.resume(round, {})  # else its compressor would repeat the draws of the first rounds

    def reply(self, round: int, kind: str, point: Array, arrays: Mapping[str, Array]) -> Any:
        """Round and payload of the reply; the fault where, as under an attack, there is none."""
        assert self.worker is not None  # nobody is asked before `load` has ended
        there = {name: _aligned(array) for name, array in arrays.items()}
        reply = self.worker.reply(Broadcast(round, kind, _aligned(point), there))
        return reply if isinstance(reply, Fault) else (reply.round, reply.payload)


class ActorHandle:
    """The coordinator's handle of an actor: where it is, whether it has its shard, whether it still lives.

    Made, loaded and asked on the event loop of the client.

    Parameters
    ----------
    client
        Of the cluster.
    place
        The address of the process it runs in; the actor does not leave it.
    key
        Names the actor on the cluster.
    """

    def __init__(self, client: Any, place: str, key: str) -> None:
        distributed = require("distributed", "dask")
        self.place, self._client = place, client
        self._future = client.submit(
            WorkerActor, actor=True, workers=[place], allow_other_workers=False, key=key, pure=False
        )
        with client.as_current():  # an actor's handle belongs to the client current when it is made
            self._actor = distributed.Actor(WorkerActor, place, key)
        self._rows: Any = None  # a future that keeps them in its process
        self._created = False
        self._loading: asyncio.Task[None] | None = None

    def load(self, shard: list[Any], lies: str | None = None) -> asyncio.Task[None]:
        """Begin to send what `packed` has made ready; `lies` is the key of rows that are on the cluster."""
        self._loading = asyncio.ensure_future(self._load(shard, lies))
        return self._loading

    async def _load(self, shard: list[Any], lies: str | None) -> None:
        await self._future
        self._created = True
        if lies is not None:
            rows = require("distributed", "dask").Future(lies, self._client)
            # Where they are this is the same object; elsewhere Dask sends or makes them again.
            self._rows = self._client.submit(
                _same, rows, workers=[self.place], allow_other_workers=False, pure=False
            )
            # To await the rows' own future would bring them here.
            await self._client.submit(
                _nothing, self._rows, workers=[self.place], allow_other_workers=False, pure=False
            )
        await self._actor.load(None if lies is None else self._rows.key, *shard)

    async def ask(self, asked: Broadcast) -> Any:
        """What the worker answers; raises when the actor is known to be lost."""
        return await self._actor.reply(asked.round, asked.kind, asked.point, dict(asked.arrays))

    @property
    def gone(self) -> bool:
        """Whether Dask's scheduler has given the actor up."""
        return self._created and str(self._future.status) != "finished"

    def leave(self) -> None:
        """Want no more of it."""
        if self._loading is not None:
            let_go(self._loading)


def _same(rows: Any) -> Any:
    return rows


def _nothing(rows: Any) -> None:
    return None


def let_go(task: asyncio.Task[Any]) -> None:
    """Cancel a task, or look at how it ended, so that asyncio does not complain of it."""
    if not task.done():
        task.cancel()
    elif not task.cancelled():
        task.exception()


def packed(number: int, shard: FiniteSum, config: WorkerConfig, round: int = 1) -> list[Any]:
    """What an actor is sent: all about a worker but its arrays, and the arrays, not copied.

    Parameters
    ----------
    number, shard, config
        As `Worker` takes them.
    round
        The first it will be asked in.

    Raises
    ------
    Unsuited
        When something does not pickle.
    """
    dumps = require("distributed.protocol.pickle", "dask").dumps
    buffers: list[pickle.PickleBuffer] = []
    try:
        pickled = dumps((number, shard, config, round), buffer_callback=buffers.append)
    except Exception as error:
        raise Unsuited(
            f"backend.dask: the objective or a part cannot be sent to another process ({error!s:.120}); "
            "use functions and classes that pickle, or backend = 'in-process'"
        ) from None
    return [pickled, *(np.frombuffer(buffer.raw(), dtype=np.uint8) for buffer in buffers)]


def _aligned(array: Array) -> Array:
    """The array at an address that suits its numbers.

    Dask leaves what it receives where it lies in its message. NumPy then copies it at each use,
    and goes another way through BLAS, so that the last bits differ from those in one process.
    """
    return array if array.ctypes.data % 16 == 0 else array.copy()
