"""What an answer is worth: its objective, its violation, and the problem the objective is of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

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
