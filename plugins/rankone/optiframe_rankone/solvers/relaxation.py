"""The semidefinite relaxation of rank-one completion: a yardstick for small cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from optiframe.errors import require
from optiframe.problems.problem import Problem
from optiframe.problems.sets.constraint_set import CvxpyProgram
from optiframe.records.fields import Array
from optiframe.reference.cvxpy_solver import Cvxpy
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.completion import orientation
from optiframe_rankone.completion.fit import RankOneFit

_MOST = 100
"""Rows. An interior-point step factors a system of n(n + 1)/2 unknowns: seconds at 60, minutes beyond 100."""


@dataclass(frozen=True)
class Relaxed:
    """What the relaxation says about the problem it relaxes.

    Parameters
    ----------
    matrix
        The matrix found in place of x x', shape (size, size).
    rank_one
        Share of the trace that the leading eigenvectors hold, one a component: 1 when nothing was
        lost by relaxing.
    """

    matrix: Array
    rank_one: float


class _Lifted(Problem[Array]):
    """Least squares in a semidefinite matrix X, whose trace has a price."""

    name = "lifted-rank-one-completion"

    completion: RankOneFit = Field(description="the problem whose x x' becomes X")
    price: float = Field(description="price of a unit of the trace of X")

    def objective(self, solution: Array) -> float:
        known, targets = self._entries()
        misfit = targets - solution[known[0], known[1]]
        return float(known[2] @ misfit**2 / 2 + self.price * np.trace(solution))

    def as_cvxpy(self) -> CvxpyProgram:
        cp = require("cvxpy", "reference")
        (row, column, weight), targets = self._entries()
        size = self.completion.least_squares.shape[0]
        lower, upper = self.completion.bounds
        largest = np.maximum(lower**2, upper**2)
        bounded = np.flatnonzero(np.isfinite(largest))
        x = cp.Variable((size, size), PSD=True)
        misfit = cp.multiply(np.sqrt(weight), targets - x[row, column])
        limits = [cp.diag(x)[bounded] <= largest[bounded]] if len(bounded) else []
        cost = cp.sum_squares(misfit) / 2 + self.price * cp.trace(x)
        return CvxpyProgram(cp.Problem(cp.Minimize(cost), limits), lambda: np.asarray(x.value))

    def _entries(self) -> tuple[tuple[Array, Array, Array], Array]:
        """Rows, columns and weights of the known pairs, each once, and their values."""
        fit = self.completion.least_squares
        row, column = fit.known.nonzero()
        once = row < column
        row, column = row[once], column[once]
        weight = np.asarray(fit.known[row, column]).ravel()
        return (row, column, weight), np.asarray(fit.targets[row, column]).ravel()


class TraceRelaxation(Solver[RankOneFit, Array, Relaxed]):
    """Semidefinite relaxation: any X >= 0 in place of x x', its trace kept small, by CVXPY.

    ::

        minimize   1/2 sum_{i<j} N_ij (C_ij - X_ij)^2 + mu tr X
        over       X positive semidefinite, X_ii <= max(lower_i^2, upper_i^2)

    For such X the trace is the nuclear norm. Then x is the leading eigenvector of each component's
    block of X, times the root of its eigenvalue, within the bounds. Needs no start, and its own
    minimum is global. But the diagonal of X is unknown and only the trace holds it down, so that X is
    in general not of rank one: the trace is smallest at x x' where all pairs are known and no |x_i|
    exceeds the sum of the others, and need not be on a sparse graph, however exact the entries.
    `Result.detail` says how much of X is of rank one. Where that falls short of 1, x is a place for a
    descent to begin, not an answer.

    mu is `share` of the least price at which X = 0 is best, half the largest eigenvalue of N * C.
    It is needed: without a price the diagonal grows until every pair fits, whatever the values.

    For small cases: n(n + 1)/2 unknowns in one cone, so time grows as n^6; up to 100 rows are taken.
    """

    name = "rankone.relaxation"
    solves = RankOneFit
    requires = ("cvxpy", "clarabel")
    one_shot = True
    residual_meaning = "not computed; the engine's own tolerances decide"
    reference = "Fazel, Hindi, Boyd 2001 (trace heuristic); Saunderson et al. 2012 (when it is exact)"

    share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=1e-3, description="price of the trace, as a share of the price at which zero is best"
    )

    def unsuited(self, problem: RankOneFit) -> str | None:
        size = problem.least_squares.shape[0]
        if size > _MOST:
            return f"the relaxation is for small cases: {size} rows, and it takes up to {_MOST}"
        return None

    def iterates(self, problem: RankOneFit, run: Run) -> Iterates:
        price = self.share * _most(problem) / 2
        size = problem.least_squares.shape[0]
        if price == 0.0:  # X = 0 is best at every price; at none the diagonal would be anything
            yield Iterate(problem.clip(np.zeros(size)), detail=Relaxed(np.zeros((size, size)), 1.0))
            return Status.FINISHED, "all known entries are 0, and so is the answer"
        found = run.solve(Cvxpy(), _Lifted(completion=problem, price=price))
        if found.solution is None:
            return found.status, found.message
        x, rank_one = _leading(problem, found.solution)
        yield Iterate(x, info={"rank_one": rank_one}, detail=Relaxed(found.solution, rank_one))
        status = Status.FINISHED if found.status is Status.CONVERGED else found.status
        return status, found.message


def _most(problem: RankOneFit) -> float:
    """The largest eigenvalue of N * C; 0 where it is negative."""
    weighted = problem.least_squares.known.multiply(problem.least_squares.targets).toarray()
    return max(float(np.linalg.eigvalsh(weighted)[-1]), 0.0)


def _leading(problem: RankOneFit, matrix: Array) -> tuple[Array, float]:
    """x of the leading eigenvectors, one a component, and their share of the trace."""
    x, held = np.zeros(len(matrix)), 0.0
    component = problem.least_squares.pairs.component
    for group in range(int(component.max()) + 1):
        members = np.flatnonzero(component == group)
        values, vectors = np.linalg.eigh(matrix[np.ix_(members, members)])
        size = max(float(values[-1]), 0.0)
        held += size
        vector = vectors[:, -1]
        x[members] = np.sqrt(size) * vector * orientation.of_group(problem.orienting[members] * vector)
    return problem.clip(x), held / max(float(np.trace(matrix)), np.finfo(np.float64).tiny)
