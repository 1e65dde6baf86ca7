"""A local federation with one shard of rows for each node, as `Workers`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum
from optiframe_comrade.backends.flower.embedded_server import EmbeddedServer
from optiframe_comrade.backends.flower.grid_workers import GridWorkers
from optiframe_comrade.backends.flower.node import save_rows
from optiframe_comrade.backends.flower.processes import Processes
from optiframe_comrade.backends.flower.protocol import work_of
from optiframe_comrade.backends.flower.start_local import start_local
from optiframe_comrade.protocol.worker import WorkerConfig


class Trial(GridWorkers):
    """`GridWorkers` whose nodes were started for it and end with it.

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
            self.link, nodes = start_local(self.processes, configs, persistent_client=persistent_client)
            self._server = EmbeddedServer(self.link)
        except BaseException:
            self.processes.close()
            raise
        super().__init__(
            self._server.grid,
            nodes,
            work_of(config, models[0].name, models[0].l2),
            config.compressor,
            names=[f"node {number}" for number in range(len(shards))],
            sizes=[len(model) for model in models],
            prepare=self._server.identify,
            close=self._end,
        )

    def _end(self) -> None:
        try:
            self._server.close()
        finally:
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
