"""What no metric says of a run: its answer, by solving it once more in this process.

Only for runs of a second or so. What takes longer is computed once and kept beside the item's results.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import optiframe
from harness.runs import Run, Runs
from optiframe.comparison.sweep import fill
from optiframe.loop import NotConverged
from optiframe.results import Result

_STEPS = 10**6


def again(run: Run, *, iterations: int = _STEPS, **changes: Any) -> Result[Any, Any]:
    """The run solved once more, with `changes` to its solver's parameters."""
    problem = json.dumps(fill(dict(run.problem), run.seed), sort_keys=True)
    solver = json.dumps({**run.solver, **changes}, sort_keys=True)
    return _solved(problem, solver, run.seed, iterations)


@lru_cache(maxsize=64)
def _solved(problem: str, solver: str, seed: int, iterations: int) -> Result[Any, Any]:
    with warnings.catch_warnings():
        if iterations < _STEPS:  # asked for fewer: that they are not enough is no news
            warnings.simplefilter("ignore", NotConverged)
        return optiframe.solve(
            _problem(problem),
            optiframe.solver(**json.loads(solver)),
            seed=seed,
            budget={"iterations": iterations},
            progress=False,
            trace=False,
        )


@lru_cache(maxsize=8)
def _problem(table: str) -> Any:
    return optiframe.problem(**json.loads(table))


def kept(runs: Runs, name: str, inputs: Any, compute: Callable[[], Any]) -> Any:
    """What `compute` gives, JSON values, kept beside the item's results for these inputs.

    Unlike a cell it is not computed again when the code changes: delete the item's folder for that.
    """
    key = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16]
    file = Path(runs.folder) / f"{name}-{key}.json"
    if not file.exists():
        text = json.dumps(compute())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))
