"""``backend = "flower"``: a trial federation on this machine, nodes as real processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from pydantic import Field

from optiframe.errors import require
from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum
from optiframe_comrade.backends.backend import Backend
from optiframe_comrade.backends.flower.node import save_rows
from optiframe_comrade.backends.flower.processes import Processes
from optiframe_comrade.backends.flower.protocol import work_of
from optiframe_comrade.backends.flower.relay import RelayedWorkers
from optiframe_comrade.backends.flower.start_local import start_local
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
        if find_spec("flwr") is None:  # only its commands are used here: not imported
            require("flwr", "flower")
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


class Trial(RelayedWorkers):
    """Nodes that are started for it and end with it.

    Parameters
    ----------
    shards
        Rows of each node, handed over in files; linear models.
    config
        How nodes are to work, and which of them are to misbehave.
    persistent_client
        As in `start_local`.

    Attributes
    ----------
    processes
        The SuperLink's and the nodes'.

    Raises
    ------
    FederationFailed
        When a process does not come up.
    """

    def __init__(
        self, shards: Sequence[FiniteSum], config: WorkerConfig, *, persistent_client: bool = True
    ) -> None:
        models = [cast(LinearModel, shard) for shard in shards]
        self.processes = Processes()
        try:
            configs = [
                _node_config(self.processes.folder, number, model, config)
                for number, model in enumerate(models)
            ]
            local = start_local(self.processes, configs, persistent_client=persistent_client)
        except BaseException:
            self.processes.close()
            raise
        super().__init__(
            local.line,
            local.address,
            local.nodes,
            work_of(config, models[0].name, models[0].l2),
            names=[f"node {number}" for number in range(len(shards))],
            sizes=[len(model) for model in models],
            close=self._end,
        )

    def _end(self) -> None:
        self.line.close()
        self.processes.close()


def _node_config(folder: Path, number: int, model: LinearModel, config: WorkerConfig) -> dict[str, str | int]:
    """Write the files a node needs; its settings."""
    rows = folder / f"rows-{number}.npz"
    save_rows(rows, model)
    settings: dict[str, str | int] = {"shard": str(rows), "partition-id": number}
    if number in config.byzantine:
        attack = folder / f"attack-{number}.json"
        table = {"attack": config.attack.table(), "byzantine": list(config.byzantine), "trim": config.trim}
        attack.write_text(json.dumps(table), encoding="utf-8")
        settings["attack"] = str(attack)
    return settings
