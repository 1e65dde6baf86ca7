"""The Flower ServerApp: runs a solver over the nodes of a federation and writes its answer.

The coordinator holds no rows: it cannot tell the objective, and the trace has none. Started by
``flwr run`` with the folder that `optiframe_comrade.backends.flower.app` names; its settings are in the
`pyproject.toml` there. It refuses to run where the SuperLink listens beyond loopback.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Context
from flwr.serverapp import Grid, ServerApp
from pydantic import Field, PositiveInt

import optiframe
from optiframe import Budget, Minimize, Status
from optiframe.errors import InvalidInput, Unsuited
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.backends.flower.grid_workers import GridWorkers, Ready
from optiframe_comrade.backends.flower.loopback import only_loopback_answers
from optiframe_comrade.backends.flower.protocol import work_of
from optiframe_comrade.backends.flower.relay import serve
from optiframe_comrade.problem import LOSSES
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import Workers, WorkersLost

_LOOK = 1.0  # seconds between two looks at which nodes are there

app = ServerApp()


class Elsewhere(FiniteSum):
    """A finite sum whose terms are on the nodes: it has a shape, and no value here (nan)."""

    columns: PositiveInt = Field(description="length of a point")
    terms: PositiveInt = Field(description="how many terms there are, as far as is known")

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.columns,)

    def __len__(self) -> int:
        return self.terms

    def take(self, indices: Any) -> FiniteSum:
        return self

    def value(self, x: Array) -> float:
        return math.nan

    def gradient(self, x: Array) -> Array:
        raise Unsuited("the terms are on the nodes; only they can compute a gradient")

    def hessian_product(self, x: Array, v: Array) -> Array:
        raise Unsuited("the terms are on the nodes; only they can compute with the Hessian")


class Afar(Minimize):
    """A minimization over rows that are on the nodes: the coordinator cannot tell its objective."""

    def objective(self, solution: Array) -> float:
        return math.nan


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Wait for the nodes, run the solver, write the answer as JSON; in a trial the solver is elsewhere."""
    settings = context.run_config
    if settings["relay"]:
        serve(grid, str(settings["relay"]))
        return
    answer = run(grid, settings)
    path = Path(str(settings["result"])).resolve()
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(json.dumps(answer, indent=1), encoding="utf-8")
    unfinished.replace(path)  # whoever waits for the file finds it whole
    print(f"{settings['solver']}: {answer['message']}; the answer is in {path}", flush=True)  # the run's log
    if answer["status"] == Status.STALLED:  # so that the run has failed for whoever waits for it
        raise WorkersLost(answer["message"])


def run(grid: Grid, settings: Any) -> dict[str, Any]:
    """Run the solver that the settings name; its answer and its books.

    Raises
    ------
    InvalidInput
        When the SuperLink listens beyond loopback, a setting is wrong, or too few nodes are there in time.
    """
    only_loopback_answers(grid._addr)  # type: ignore[attr-defined]  # an inner part of Flower 1.41
    columns, wanted = int(settings["columns"]), int(settings["nodes"])
    if columns < 1:
        raise InvalidInput("columns: say how many the nodes' rows have; nobody's word is taken for it")
    if settings["loss"] not in LOSSES:
        raise InvalidInput(f"loss: {settings['loss']!r} is none of {', '.join(LOSSES)}")
    nodes = wait_for(grid, wanted, float(settings["wait"]))

    def started(config: WorkerConfig) -> Workers:
        work = work_of(config, str(settings["loss"]), float(settings["l2"]))
        return GridWorkers(grid, nodes, work, config.compressor)

    parameters = {"deadline": 60.0, **json.loads(str(settings["parameters"]))}
    terms = int(settings["rows"]) or 5 * columns * wanted  # not known: enough not to warn of too few
    result = optiframe.solve(
        Afar(Elsewhere(columns=columns, terms=terms)),  # type: ignore[call-arg]  # as of `Minimize`
        str(settings["solver"]),
        seed=int(settings["seed"]),
        budget=Budget(iterations=int(settings["steps"]), tolerance=float(settings["tolerance"])),
        workers=wanted,
        backend=Ready(found=started),
        **parameters,
    )
    books = result.detail
    return {
        "status": str(result.status),
        "message": result.message,
        "solution": np.asarray(result.solution).tolist(),
        "residuals": [float(each) for each in result.trace["residual"]],
        "rounds": books.rounds,
        "bytes_up": books.bytes_up,
        "bytes_down": books.bytes_down,
        "nodes": list(books.names),
        "left_out": [float(each) for each in books.suspicion()],
        "faults": [
            {"round": fault.round, "node": books.names[fault.worker], "kind": fault.kind, "text": fault.text}
            for exchange in books.exchanges
            for fault in exchange.faults
        ],
        "findings": [
            {"level": each.level, "text": each.text, "identifier": each.identifier}
            for each in result.findings
        ],
    }


def wait_for(grid: Grid, wanted: int, seconds: float) -> list[int]:
    """Numbers of so many nodes, as soon as they are there; the smallest where there are more."""
    ends = time.monotonic() + seconds
    while True:
        nodes = sorted(grid.get_node_ids())
        if len(nodes) >= wanted:
            return nodes[:wanted]
        if time.monotonic() > ends:
            raise InvalidInput(
                f"{len(nodes)} of {wanted} nodes are there after {seconds:g} s; "
                "start more, or set `nodes` or `wait` by --run-config"
            )
        time.sleep(_LOOK)
