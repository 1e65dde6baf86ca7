"""The backend on Dask: ``backend = "dask"``, or ``backend = {name = "dask", address = "tcp://..."}``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, field_validator, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.objective import FiniteSum
from optiframe_comrade.backends.backend import Backend
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import Workers

# A round takes seconds at most, and a dead process is noticed at once: this is what a process that
# hangs costs a run, once.
_PATIENCE = 60.0


class DaskBackend(Backend):
    """Workers as actors on a Dask cluster, each with its shard, for machines you own.

    Dask unpickles what arrives: a hostile worker could run code in the coordinator, and so
    could whoever connects to a cluster without TLS. `backend.flower` is for workers you do not
    trust. Shards travel once, when the workers start. What a simulated attack says is done
    there; attacks that must know what honest workers send are refused.

    The machines are yours and the coordinator has all rows, so the rows of a worker that dies, hangs past
    the deadline or sends what is not usable go to another process, which answers in the same round. More
    such workers in a round than its trim budget are an error all the same.

    Rows that lie on a cluster (`DaskRows`) stay there, and without an address it is that cluster which is
    used. What a lost process held is made again by Dask, on another one.

    Without either a cluster of this machine's processes is started and ended with each
    run. It listens on loopback only, where every user of the machine can reach it.
    """

    name = "backend.dask"

    address: str | None = Field(
        default=None, description="of the scheduler; none: a cluster of this machine's processes for the run"
    )
    processes: PositiveInt | None = Field(
        default=None, description="of a cluster on this machine; none: one for each worker"
    )
    starting: PositiveFloat = Field(
        default=60.0, description="seconds to wait for the cluster, and then for workers to take their shards"
    )

    on_fault: Literal["reshard", "drop"] = Field(
        default="reshard",
        description="reshard: the rows of a lost worker go to another process; drop: go on without them",
    )

    @field_validator("address")
    @classmethod
    def _has_a_scheme(cls, address: str | None) -> str | None:
        if address is not None and "://" not in address:
            raise InvalidInput(
                f"a scheduler's address has the form tcp://host:8786, or tls://host:8786, got {address!r}"
            )
        return address

    @model_validator(mode="after")
    def _starts_processes_or_joins_a_cluster(self) -> Self:
        if self.address is not None and self.processes is not None:
            raise InvalidInput(
                "give address or processes, not both: processes starts a cluster on this machine, and the "
                "cluster at an address has its own"
            )
        return self

    def start(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> Workers:
        from optiframe.dask_connection import DaskConnection
        from optiframe.loopback_cluster import loopback_cluster
        from optiframe_comrade.backends.dask_rows import DaskShard
        from optiframe_comrade.backends.dask_workers import DaskWorkers

        lies = shards[0].address if isinstance(shards[0], DaskShard) else None
        processes = self.processes or len(shards)
        connection = DaskConnection(
            self.address or lies,
            lambda: loopback_cluster(
                processes,
                memory_limit=0,  # an even share of the memory means nothing for uneven use of it
                silence_logs=logging.CRITICAL + 1,  # a killed worker is the coordinator's to report
            ),
            self.starting,
            asked="backend.address",
            remedy="give it longer with `starting`, or fewer `processes` (backend.dask)",
            workers=processes,
            # Through the scheduler every vector would travel twice, and one stopped worker could hold up
            # its connections.
            direct_to_workers=True,
            set_as_default=False,  # that client is whatever the user has made it
        )
        try:
            return DaskWorkers(connection, shards, config, self.starting, self.on_fault == "reshard")
        except BaseException:
            connection.close()
            raise

    def unsuited(self, function: FiniteSum, config: WorkerConfig) -> str | None:
        if config.colludes:
            return f"{config.attack.name} must know what honest workers send, and on Dask nobody does"
        return None

    @property
    def patience(self) -> float | None:
        return _PATIENCE
