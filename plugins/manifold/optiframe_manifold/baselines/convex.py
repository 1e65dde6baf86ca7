"""The convex relaxation by CVXPY: the yardstick of the yardstick, for tiny cases."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from optiframe.problems.minimize import Minimize
from optiframe.reference.cvxpy_solver import Cvxpy
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_manifold.baselines.nuclear import Relaxation, gap
from optiframe_manifold.problem import CollaborativeRanking


class ConvexRelaxation(Relaxation):
    """The convex relaxation of Eq. 7 as a CVXPY program with a semidefinite cone.

    For tiny cases, to check `btl.spg`: the cone has (m + n)^2 entries, and each step of an engine
    decomposes it. 12 users x 10 items take about a second, 40 x 40 minutes.
    """

    name = "btl.convex"
    requires = ("cvxpy", "scs")
    reference = "Dong et al., Eq. 7; Diamond, Boyd (2016), CVXPY"
    one_shot = True
    residual_meaning = "a bound on how far the minimized function is above its least value, relative"

    engine: Literal["SCS", "CLARABEL"] = Field(
        default="SCS", description="SCS: splitting, as the paper names it; CLARABEL: interior point, exact"
    )

    def iterates(self, problem: CollaborativeRanking, run: Run) -> Iterates:
        objective, ball = self.relaxed(problem)
        found = run.solve(Cvxpy(engine=self.engine), Minimize(objective, over=ball))
        if found.solution is None:
            return found.status, found.message
        x = ball.project(found.solution)  # engines leave the ball by their own tolerance
        value, gradient = objective.value_and_gradient(x)
        yield Iterate(x, residual=gap(x, gradient, ball.radius) / max(abs(value), 1.0))
        status = Status.FINISHED if found.status is Status.CONVERGED else found.status
        return status, found.message
