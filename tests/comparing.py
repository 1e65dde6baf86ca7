"""Plans and outcomes made by hand, for the tests of the store and the engine."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

from optiframe import Budget, Status
from optiframe.comparison.cells import Cell, Choice, ExecutorChoice, Limits, Measure, Plan
from optiframe.comparison.records import Outcome

HERE = Path(__file__).parent


BOWL = {
    "name": "minimize",
    "objective": {"name": "least-squares", "matrix": [[2.0, 1.0], [1.0, 3.0]], "target": [1.0, 2.0]},
}


def cell(problem: str = "bowl", solver: str = "descent", seed: int = 0) -> Cell:
    key = hashlib.sha256(f"{problem} {solver} {seed}".encode()).hexdigest()
    return Cell(
        key,
        Choice(problem, "minimize", BOWL, f"content of {problem}"),
        Choice(solver, "scipy.lbfgs", {"name": "scipy.lbfgs"}, f"content of {solver}", {"optiframe": "1"}),
        seed,
    )


def plan_of(*cells: Cell, **more) -> Plan:
    settings = {
        "budget": Budget(iterations=5),
        "limits": Limits(time=20.0),
        "measure": Measure(warmup=False, count=False),
        "executor": ExecutorChoice(workers=2),
        "text": "seeds = 1\n",
        "folder": HERE,
    }
    return Plan(cells=cells, **(settings | more))


def outcome(objective: float = 1.0, status: Status = Status.CONVERGED, **more) -> Outcome:
    """One with something in every field."""
    fields = {
        "message": "the residual is within the tolerance",
        "objective": objective,
        "violation": 0.0,
        "metrics": {"error": 0.25, "unknown": math.nan, "unbounded": math.inf},
        "findings": ({"level": "warning", "text": "worker 'β' never agrees", "about": ["β"]},),
        "solved": "fingerprint",
        "iterations": 3,
        "time": 0.5,
        "times": (0.5, 0.25, math.inf),
        "setup": 0.01,
        "evaluation_time": 0.02,
        "loading": 0.3,
        "warmup": math.nan,
        "cpu": 0.4,
        "wall": 1.5,
        "memory": 5e7,
        "evaluations": {"value": 4.0, "gradient": 3.5},
        "trace": {
            "iteration": [1, 2, 3],
            "time": [0.1, 0.2, 0.5],
            "objective": [9.0, math.inf, objective],
            "violation": [0.0, 0.0, 0.0],
            "residual": [math.nan, 1e-3, 1e-9],
            "step": [1.0, math.nan, -math.inf],
        },
        "history": {"evaluations": [0.0, 2.0], "per_variable": [0.0, 1.0], "merit": [9.0, objective]},
        "better": {"error": "lower"},
        "stderr": "a warning \x00 with a half character: ?",
        "traceback": "Traceback: none really\n",
        "versions": {"optiframe": "0.1.0"},
        "environment": {"threads": 1, "blas": ["openblas"]},
    }
    return Outcome(status=status, **(fields | more))
