"""Plug-in gradient descent on the correlations between workers."""

from __future__ import annotations

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.errors import InvalidInput
from optiframe.solvers import Iterate, Iterates, Run, Solver
from optiframe.values import Array, as_vector
from optiframe_rankone.rank_one import RankOneCompletion

_DAMPING = 0.5
"""All coordinates move at once, so each goes half its way: the Hessian of one pair's term is at
most twice its diagonal, since [[a, b], [b, c]] <= 2 diag(a, c) where it is positive semidefinite."""


class ProjectedGradient(Solver[RankOneCompletion, Array, None]):
    """Plug-in gradient descent: a gradient step on the weighted least squares, then the box.

    Needs correlations between workers; gives skills up to sign in each connected component
    of the worker graph, and there only if it has an odd cycle. One step costs two products
    with the sparse matrix of pairs.

    ::

        x <- clip(x + step * sum_j N_ij (C_ij - x_i x_j) x_j)

    With no `step` given, each coordinate's gradient is divided by its own curvature
    sum_j N_ij x_j^2 and damped by 1/2: half-way to the value that is best for it while the
    others stay (a damped Jacobi sweep). A fixed step must suit the busiest worker and is then
    far too small for the others. The residual is in units of skill: how far any worker is
    from the value that is best for him while the others stay. Coordinates without curvature
    (nobody to compare with) stay where they are.
    """

    name = "rankone.pgd"
    solves = RankOneCompletion
    accepts_start = True
    monotone = False  # neither step comes with a line search
    residual = "largest distance of an entry to its best value within the bounds, the others fixed"
    reference = "Ma et al., Sec. 4.1, with the projection of Sec. 6"

    step: PositiveFloat | None = Field(
        None, description="fixed step of Sec. 4.1; none: each entry scaled by its own curvature"
    )

    def iterates(self, problem: RankOneCompletion, run: Run) -> Iterates:
        pulls = problem.least_squares.pulls
        x = self._first(problem, run)
        pull, curvature = pulls(x)
        best = _best(problem, x, pull, curvature)
        while True:
            if self.step is None:
                x = x + _DAMPING * (best - x)
            else:
                x = problem.clip(x + self.step * (pull - curvature * x))
            pull, curvature = pulls(x)
            best = _best(problem, x, pull, curvature)
            yield Iterate(x, residual=float(np.abs(best - x).max()))

    @staticmethod
    def _first(problem: RankOneCompletion, run: Run) -> Array:
        if run.start is None:
            return problem.initial()
        start = as_vector(run.start)
        if start.shape != problem.least_squares.shape:
            raise InvalidInput(
                f"the start has {len(start)} entries, the problem {problem.least_squares.shape[0]}"
            )
        return problem.clip(start)


def _best(problem: RankOneCompletion, x: Array, pull: Array, curvature: Array) -> Array:
    """For each entry the best value within the bounds while the others stay; itself where all are equal."""
    tiny = np.finfo(np.float64).tiny  # below it the quotient means nothing and may overflow
    return problem.clip(np.divide(pull, curvature, out=x.copy(), where=curvature > tiny))
