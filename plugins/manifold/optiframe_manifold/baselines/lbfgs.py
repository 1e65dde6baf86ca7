"""SciPy's L-BFGS on the two factors of a low-rank matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.reference.scipy_lbfgs import lbfgs_iterates
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, stacked
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.solvers.starts import first_factors


class FactorLBFGS(Solver[Minimize, LowRank, None]):
    """SciPy's L-BFGS-B over both factors at once, without any geometry.

    Needs an objective with a gradient over `Rank`. The factors are not unique, so that the
    Hessian by the factors is singular everywhere: linear convergence at best, and rounding in
    values ends the line search near a gradient norm of 1e-4 to 1e-5 on larger problems.
    Memory is O(memory (m + n) r).
    """

    name = "manifold.lbfgs"
    reference = "Byrd, Lu, Nocedal, Zhu (1995), A limited memory algorithm for bound constrained optimization"
    solves = Minimize
    former_names = (("begin", "init"),)
    requires = ("scipy",)
    accepts_start = True
    residual_meaning = "norm of the Riemannian gradient, as for manifold.trust-region"
    point_type = LowRank

    init: Literal["spectral", "random"] = Field(
        default="spectral", description="where to begin without a start, as for manifold.trust-region"
    )
    memory: PositiveInt = Field(default=10, description="pairs of steps and gradient changes kept")

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited_to_factors(problem, Objective.gradient)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        over, objective = problem.over, problem.function
        assert isinstance(over, Rank)  # else `unsuited` said so
        geometry = FixedRank(over.rows, over.columns, over.rank)
        start = first_factors(problem, run, self.init)
        last: list[tuple[Array, LowRank, float, Array]] = []

        def evaluated(flat: Array) -> tuple[Array, LowRank, float, Array]:
            """Point, value and gradient; SciPy reports the point that it evaluated last."""
            if not last or not np.array_equal(last[0][0], flat):
                point = LowRank(*geometry.split(flat.reshape(-1, over.rank).copy()))
                gradient = stacked(objective.gradient(point))  # first: some objectives then know the value
                last[:] = [(flat.copy(), point, objective.value(point), gradient)]
            return last[0]

        @np.errstate(all="ignore")
        def iterate(flat: Array) -> Iterate:
            _, point, _, gradient = evaluated(flat)
            at = Factors(point)
            slope = geometry.euclidean_to_riemannian_gradient(at, gradient)
            return Iterate(point, residual=geometry.norm(at, slope))

        @np.errstate(all="ignore")  # a trial step may overflow; it is then shortened
        def cost(flat: Array) -> tuple[float, Array]:
            _, _, value, gradient = evaluated(flat)
            return value, gradient.ravel()

        return lbfgs_iterates(
            cost, stacked(start).ravel(), iterate, jac=True, memory=self.memory, steps=run.steps_left()
        )


def unsuited_to_factors(problem: Minimize, *needed: Callable[..., Any]) -> str | None:
    """Why a problem is not one over factors with these operations, in words; None when it is."""
    if not isinstance(problem.over, Rank):
        return f"the set {problem.over.name!r} does not fix the rank of a matrix; use the set 'rank'"
    return problem.function.lacks(*needed)
