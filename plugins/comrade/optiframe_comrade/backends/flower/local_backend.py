"""``backend = "flower"``: a trial federation on this machine, nodes as real processes."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum
from optiframe_comrade.backends.backend import Backend
from optiframe_comrade.backends.flower import flower
from optiframe_comrade.problem import LOSSES
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import Workers

_PATIENCE = 60.0  # seconds; a round takes some 5, more where many nodes share few cores


class FlowerBackend(Backend):
    """Workers as Flower nodes on this machine, on loopback: a trial of a federation.

    Starts a SuperLink and a SuperNode for each worker, hands each its rows in a file, and ends
    them with the run. A round takes seconds, whatever is computed in it. Every user of the machine
    can reach the SuperLink and start code there.
    """

    name = "backend.flower"
    former_names = (("resident", "persistent_client"),)

    persistent_client: bool = Field(
        default=True,
        description="one process a node; false: Flower starts one for every message",
    )

    def start(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> Workers:
        with flower():
            from optiframe_comrade.backends.flower.trial import Trial

        return Trial(shards, config, persistent_client=self.persistent_client)

    def unsuited(self, function: FiniteSum, config: WorkerConfig) -> str | None:
        if not isinstance(function, LinearModel) or type(function) not in LOSSES.values():
            return f"a node on Flower takes the losses {', '.join(LOSSES)}, whose rows are plain arrays"
        if config.colludes:
            return f"the attack {config.attack.name!r} needs what others send, which no node on Flower knows"
        return None

    @property
    def patience(self) -> float:
        return _PATIENCE
