"""What the two solvers of the convex relaxation share: its problem and its certificate."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.problems.sets.matrix_sets import NuclearBall
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Solver
from optiframe_manifold.answer import Rankings
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.objective.dense_likelihood import DenseBtl
from optiframe_manifold.problem import CollaborativeRanking

_NEGLIGIBLE = 1e-12  # singular values below this share of the largest are rounding


class Relaxation(Solver[CollaborativeRanking, Rankings, None]):
    """The convex relaxation of Eq. 7: a ball of the nuclear norm in the place of the rank.

    The radius is alpha sqrt(r m n), which holds every matrix of rank r with entries up to alpha
    (|X|_* <= sqrt(r) |X|_F <= alpha sqrt(r m n)), and so is loose: equality needs r equal singular
    values and all entries of size alpha.
    """

    solves = CollaborativeRanking
    point_type = object

    alpha: PositiveFloat | None = Field(
        default=None,
        description="bound on the scores in the radius alpha sqrt(r m n); none: the largest true score, "
        "an oracle that only simulations have",
    )
    radius: PositiveFloat | None = Field(
        default=None, description="radius of the ball itself, in the place of alpha sqrt(r m n)"
    )
    penalized: bool = Field(
        default=False, description="minimize the problem's objective; else, as the paper, the loss alone"
    )
    cut: bool = Field(
        default=True, description="cut the answer to the problem's rank; else it has whatever rank it has"
    )

    def unsuited(self, problem: CollaborativeRanking) -> str | None:
        if self.radius is None and self.alpha is None and problem.truth is None:
            return (
                "the radius of its ball takes the largest true score, and there is no truth; give alpha, a "
                "bound on the scores, or radius"
            )
        return None

    def relaxed(self, problem: CollaborativeRanking) -> tuple[DenseBtl, NuclearBall]:
        """What is minimized, and the ball."""
        likelihood = problem.likelihood if self.penalized else problem.likelihood.unpenalized()
        return DenseBtl(of=likelihood), NuclearBall(radius=self.radius_for(problem))

    def radius_for(self, problem: CollaborativeRanking) -> float:
        """The radius of the ball: `radius`, or alpha sqrt(r m n)."""
        if self.radius is not None:
            return self.radius
        alpha = self.alpha
        if alpha is None:
            assert problem.truth is not None  # else `unsuited` said so
            truth = problem.truth
            alpha = truth.largest() if isinstance(truth, LowRank) else float(np.abs(truth).max())
        return alpha * math.sqrt(problem.factor_rank * problem.shape[0] * problem.shape[1])

    def finish(self, problem: CollaborativeRanking, iterate: Iterate) -> Rankings:
        x: Array = iterate.x
        factors = Rank(x.shape[0], x.shape[1], problem.factor_rank if self.cut else min(x.shape)).project(x)
        sizes = np.einsum("ik,ik->k", factors.left, factors.left)  # the singular values
        kept = max(1, int(np.count_nonzero(sizes > _NEGLIGIBLE * sizes[0])))
        if not self.cut:
            factors = LowRank(factors.left[:, :kept], factors.right[:, :kept])
        return problem.from_factors(factors)


def gap(x: Array, gradient: Array, radius: float) -> float:
    """How far a convex function at `x`, in the ball, can be above its least value there.

    <G, X> + radius |G|_2: the least of the tangent over the ball is reached at -radius u v', for the
    leading singular vectors of the gradient G. O(m n min(m, n)) time, a quarter of a projection's.
    """
    steepest = float(np.linalg.norm(gradient, 2))
    return max(float(np.vdot(gradient, x)) + radius * steepest, 0.0)
