"""What a solver is checked on: a case, and small problems with known answers."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np
import scipy.optimize

from optiframe.errors import InvalidInput
from optiframe.problems.minimize import Composite, Minimize
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.objectives.quadratic import Linear
from optiframe.problems.problem import Problem
from optiframe.problems.projection import Projection
from optiframe.problems.regularizers.norms import L1
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.problems.sets.intersection import Intersection
from optiframe.problems.sets.linear_sets import HalfSpace
from optiframe.problems.sets.vector_sets import Box, Integers, NonNegative, Simplex
from optiframe.records.fingerprint import fingerprint
from optiframe.solving.budget import Budget
from optiframe.solving.result import Result
from optiframe.solving.solve import NotConverged, solve
from optiframe.solving.solver import Solver

AnySolver: TypeAlias = Solver[Any, Any, Any]
AnyProblem: TypeAlias = Problem[Any]

_SMALL = 10_000  # entries of a matrix whose least squares take no time
SHORT = 25  # iterations that show how a solver behaves, where its answer does not matter


class NotApplicable(Exception):
    """A check that cannot be made on a case, and why: neither passed nor failed."""


@dataclass(frozen=True)
class Case:
    """A solver on a small problem, and what is known about it.

    Parameters
    ----------
    solver, problem
        What to check. The problem should take the solver well under a second.
    optimum
        The lowest objective there is, where known.
    tolerance
        How near to the optimum, relative to max(1, abs(optimum)), and to the constraints an
        answer must be within `budget`.
    budget
        What the solver may use to get there.
    may_run_out
        Whether the budget may be too small for a slow but honest method: a run that says it
        ended at a limit, or stalled, may then miss the optimum. One said to be converged may not.
    others
        Further problems for the solver; they are run in between, to see whether a run leaks.
    seconds
        How much longer than its time budget a run may take: one iterate of the small
        problem, on a busy machine.
    no_better_than_chance
        Why an answer need not be better than one that never looked at the data
        (`Problem.baseline_metrics`), in words; empty: it must.
    """

    solver: AnySolver
    problem: AnyProblem
    optimum: float | None = None
    tolerance: float = 1e-4
    budget: Budget = field(default_factory=Budget)
    may_run_out: bool = False
    others: tuple[AnyProblem, ...] = ()
    seconds: float = 1.0
    no_better_than_chance: str = ""

    @property
    def title(self) -> str:
        """The solver and the problem in words."""
        return f"{self.solver.name} on {self.problem.name!r}"

    def fail(self, text: str) -> NoReturn:
        """Raise the failure of a check, in words."""
        raise AssertionError(f"{self.title}: {text}")

    def solve(self, *, budget: Budget | None = None, seed: int = 1, **options: Any) -> Result[Any, Any]:
        """Run the solver on the problem (or on the one given as `problem`)."""
        problem = options.pop("problem", self.problem)
        solver = options.pop("solver", self.solver)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)  # many checks stop a run early on purpose
            return solve(problem, solver, budget=budget or self.budget, seed=seed, progress=False, **options)

    def glance(self, *, tolerance: float | None = None, **options: Any) -> Result[Any, Any]:
        """A short run whose length depends on no clock."""
        limit = self.budget.tolerance if tolerance is None else tolerance
        return self.solve(budget=Budget(iterations=SHORT, tolerance=limit), **options)


def small_problems() -> list[AnyProblem]:
    """Problems with known answers, for a solver about which nothing else is known."""
    point = np.array([0.3, -1.5, 2.0])
    return [
        Minimize(SquaredDistance(to=point)),
        Minimize(
            SquaredDistance(to=point.reshape(3, 1) * [1.0, -1.0]),
            over=Box(lower=np.array(-1.0), upper=np.array(1.0)),
        ),
        Minimize(SquaredDistance(to=point), over=Simplex()),
        Projection(point, onto=Box(lower=np.array(0.0), upper=np.array(0.5))),
        Minimize(_valley()),
        Minimize(_valley(), over=Box(lower=np.array(-20.0), upper=np.array([20.0, 20.0, 1.0]))),
    ]


def special_problems() -> list[AnyProblem]:
    """Problems for a solver that takes none of `small_problems`: of special shapes, or with a regularizer."""
    rows = HalfSpace(normal=np.array([1.0, 2.0, 1.0]), offset=4.0)
    cost = Linear(cost=np.array([1.0, -2.0, -0.5]))
    return [
        Minimize(_valley(), over=NonNegative()),
        Minimize(cost, over=Intersection(sets=(Box(lower=np.array(0.0), upper=np.array(3.0)), rows))),
        Minimize(cost, over=Intersection(sets=(Integers(lower=0.0, upper=3.0), rows))),
        Composite(_valley(), plus=L1(weight=0.01)),
    ]


def _valley() -> LeastSquares:
    """Least squares of condition 100, whose answer [-8, 6, 2] lies far along the flat direction.

    The eigenvalues of the Hessian are 1, .01 and 1, the first two in directions that no axis has.
    One step of length 1 leaves a gap of .5 in the objective and a gradient of norm .1 only: so no
    method ends near the optimum by chance, and a careless one may take itself to be there.
    """
    rows = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    matrix = np.sqrt(3 * np.array([1.0, 0.01, 1.0]))[:, np.newaxis] * rows
    return LeastSquares(matrix=matrix, target=matrix @ [-8.0, 6.0, 2.0])


def is_ill_conditioned(problem: AnyProblem) -> bool:
    """Whether an honest first-order method may need more steps than a budget has."""
    return isinstance(problem, Minimize) and isinstance(problem.function, LeastSquares)


def known_optimum(problem: AnyProblem) -> float | None:
    """The lowest objective where it is simple to tell; None for other problems.

    Of a projection, of a squared distance over any set, and of a small dense least squares
    without a penalty over a box or the whole space (by an active-set method).
    """
    if isinstance(problem, Projection):
        return problem.objective(problem.onto.project(problem.point))
    if isinstance(problem, Minimize) and isinstance(problem.function, SquaredDistance):
        return problem.objective(problem.over.project(problem.function.to))
    if isinstance(problem, Minimize) and type(problem.function) is LeastSquares:
        return _least_squares(problem, problem.function)
    return None


def _least_squares(problem: Minimize, function: LeastSquares) -> float | None:
    box = Box() if type(problem.over) is WholeSpace else problem.over
    small = isinstance(function.matrix, np.ndarray) and function.matrix.size <= _SMALL
    if type(box) is not Box or not small or function.l2:
        return None
    bounds = tuple(np.broadcast_to(side, function.shape) for side in (box.lower, box.upper))
    if (bounds[0] == bounds[1]).any():
        return None  # SciPy wants room between the bounds
    found = scipy.optimize.lsq_linear(function.matrix, function.target, bounds, method="bvls", tol=1e-14)
    return problem.objective(problem.over.project(found.x)) if found.success else None


_COMPARED = ("iteration", "objective", "violation", "residual")


def difference(first: Result[Any, Any], second: Result[Any, Any]) -> str:
    """What differs between two runs, in words; empty when nothing does. Times are not compared."""
    if (first.status, first.iterations) != (second.status, second.iterations):
        return (
            f"how they end ({first.status} after {first.iterations} iterations, "
            f"{second.status} after {second.iterations})"
        )
    for name in _COMPARED:
        if not np.array_equal(first.trace[name], second.trace[name], equal_nan=True):
            return f"the trace of the {name}"
    return "" if same(first.solution, second.solution) else "the solution"


def same(first: Any, second: Any) -> bool:
    """Whether two answers have the same content."""
    try:
        return fingerprint(first) == fingerprint(second)
    except InvalidInput:  # a solution of the author's own class: its bytes must do
        return pickle.dumps(first) == pickle.dumps(second)
