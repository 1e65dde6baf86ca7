"""What an answer is worth: its objective, its violation, and the problem the objective is of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optiframe.errors import BrokenPlugin
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Problem
from optiframe.problems.projection import Projection


@dataclass(frozen=True)
class Evaluation:
    """An answer in the domain's terms with its worth; `problem` is the one the objective is of.

    `given` is the same answer in the solver's terms.
    """

    solution: Any
    objective: float
    violation: float
    problem: Problem[Any]
    given: Any = None

    @property
    def lacks_objective(self) -> bool:
        """Whether the objective is nan and the problem is one that always has an objective."""
        return math.isnan(self.objective) and always_has_objective(self.problem)

    @property
    def objective_diverged(self) -> bool:
        """Whether the objective is infinite, and the square of a projected point is not."""
        if not math.isinf(self.objective) or not isinstance(self.problem, Projection):
            return math.isinf(self.objective)
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.square(self.problem.point).sum()))


def always_has_objective(problem: Problem[Any]) -> bool:
    """Whether nan as an objective means failure: yes for what is its objective, unless it has its own."""
    return type(problem).objective in (Minimize.objective, Projection.objective)


OF_EVERY_RUN = ("suboptimality", "objective", "time", "iterations", "evaluations", "cpu", "memory")
"""What comparisons measure of every run: no metric of a problem can have such a name."""


def metrics_of(problem: Problem[Any], solution: Any) -> dict[str, float]:
    """The metrics of an answer, held to their form.

    Raises
    ------
    BrokenPlugin
        Where one is no number, or has a name of `OF_EVERY_RUN`.
    """
    found = numbers_by_name(problem.metrics(solution), f"{problem.name}: metrics()")
    for name in OF_EVERY_RUN:
        if name in found:
            raise BrokenPlugin(f"{problem.name}: a metric cannot be called {name!r}: every run has one")
    return found


def numbers_by_name(given: Any, what: str) -> dict[str, float]:
    """Python's numbers by name, of whatever kind they were; `BrokenPlugin` for what is none."""
    if not isinstance(given, Mapping):
        raise BrokenPlugin(f"{what} must give numbers by name, got a {type(given).__name__}")
    return {
        str(name): _number(value, f"{what} gives {value!r:.60} as {name!r}") for name, value in given.items()
    }


def _number(value: Any, said: str) -> float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | float):
        return value
    try:
        if not isinstance(value, str | bytes) and not np.ndim(value):
            return float(value)  # of a tensor, say
    except (TypeError, ValueError):
        pass
    raise BrokenPlugin(f"{said}; give one number")
