"""What no metric says of a run: its answer, by solving it once more in this process.

Only for runs of a second or so. What takes longer is computed once, for one source of the plugin, and
kept beside the item's results.
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
from optiframe.comparison.plan.sources import package_source
from optiframe.comparison.plan.sweep import fill
from optiframe.solving.result import Result
from optiframe.solving.solve import NotConverged

_STEPS = 10**6


def again(run: Run, *, iterations: int = _STEPS, **changes: Any) -> Result[Any, Any]:
    """The run solved once more, with `changes` to its solver's parameters."""
    problem = json.dumps(fill(dict(run.problem), run.seed), sort_keys=True)
    solver = json.dumps({**run.solver, **changes}, sort_keys=True)
    return _solved(problem, solver, run.seed, iterations)


@lru_cache(maxsize=64)
def _solved(problem: str, solver: str, seed: int, iterations: int) -> Result[Any, Any]:
    # Asked for fewer steps: that they are not enough is no news.
    return solved(
        _problem(problem), json.loads(solver), seed, {"iterations": iterations}, quiet=iterations < _STEPS
    )


def solved(
    problem: Any,
    solver: str | dict[str, Any],
    seed: int = 0,
    budget: dict[str, Any] | None = None,
    *,
    quiet: bool = True,
) -> Result[Any, Any]:
    """A problem solved in this process; when `quiet` an answer that has not converged counts all the same."""
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", NotConverged)
        return optiframe.solve(
            problem,
            optiframe.solver(**({"name": solver} if isinstance(solver, str) else solver)),
            seed=seed,
            budget=budget or {},
            progress=False,
            trace=False,
        )


def problem_of(run: Run) -> Any:
    """The problem of a run."""
    return _problem(json.dumps(fill(dict(run.problem), run.seed), sort_keys=True))


@lru_cache(maxsize=8)
def _problem(table: str) -> Any:
    return optiframe.problem(**json.loads(table))


def kept(runs: Runs, name: str, inputs: Any, compute: Callable[[], Any]) -> Any:
    """What `compute` gives, JSON values, kept beside the item's results for these inputs.

    It is computed again when the source of the paper's plugin has changed, unless nothing may be run; what
    else `compute` depends on must stand in `inputs`.
    """
    key = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16]
    file = Path(runs.folder) / f"{name}-{key}.json"
    code = package_source(f"optiframe_{file.parent.parent.name}")
    if file.exists():
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["code"] == code or runs.stored:
            return found["value"]
    text = json.dumps({"code": code, "value": compute()})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return json.loads(text)["value"]
