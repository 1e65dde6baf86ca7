"""Bi-factored gradient descent with a log barrier: the non-convex rival of the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_manifold.answer import Rankings
from optiframe_manifold.low_rank import LowRank, Rank, blocks, finite
from optiframe_manifold.objective.btl import BtlObjective
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.solvers.starts import LARGEST, random_start

_BLOCK = 1 << 16  # entries of a block of rows: half a megabyte, which stays in a core's cache
_HALVINGS = 50  # a step shortened to 1e-15 of itself moves nothing


class BiFactoredGradientDescent(Solver[CollaborativeRanking, Rankings, None]):
    """Gradient descent on both factors with a log barrier for max |X| < alpha (BFGDB).

    Minimizes the negative log-likelihood alone plus a barrier,

        L(U V') - (1/tau) sum_ij log(1 - (X_ij/alpha)^2),

    in rounds: tau is multiplied by `growth` after each, ceil(log(m n / (eta tau_1)) / log growth)
    rounds in all (Eq. 28), from tau_1 = m n / L(X_0). Within a round both factors take a step of one
    fixed length against the gradient, (2/187) min(1/|U_0|_F^2, 1/|V_0|_F^2), until X changes by
    less than `change` in a step, relative to itself.

    **At the bound.** A fixed step may leave the set where the barrier is finite, or rise. The
    paper ends the round "when |X|_inf >= 1" and does not say with which point. Here no
    point outside is ever taken. With `outside="shorten"` such a step is halved until it stays
    inside and does not raise the function; with `outside="end"` the round ends where it is, and the
    next begins there, usually to end at once, too.

    A step costs a gradient, O(comparisons + m n r) time; memory is that of `BtlObjective`.

    The trace has the round, its tau, the function of the round and max |X|.
    """

    name = "btl.bfgd"
    reference = "Dong et al., Eqs. 8 and 28; Park, Kyrillidis, Caramanis, Sanghavi 2016"
    solves = CollaborativeRanking
    accepts_start = True
    residual_meaning = (
        "at the end of a round, m n / tau: the barrier's part in how far the loss is from its least; else nan"
    )
    point_type = object

    alpha: PositiveFloat = Field(default=1.0, description="bound on the size of the scores; the paper's is 1")
    growth: Annotated[float, Field(gt=1)] = Field(
        default=2.0, description="mu: tau is multiplied by it after a round"
    )
    eta: PositiveFloat = Field(
        default=1e-3, description="ends the rounds: the first tau with m n / tau below it is the last"
    )
    change: NonNegativeFloat = Field(
        default=5e-6, description="relative change of X in a step that ends a round"
    )
    steps: PositiveInt = Field(default=100_000, description="steps in a round at most")
    outside: Literal["shorten", "end"] = Field(
        default="shorten", description="a step to max |X| >= alpha, or up: halve it, or end the round"
    )

    def iterates(self, problem: CollaborativeRanking, run: Run) -> Iterates:
        likelihood = problem.likelihood.unpenalized()
        space = Rank(*problem.shape, problem.factor_rank)
        x = self._begin(problem, space, run)
        loss = likelihood.value(x)
        entries = x.shape[0] * x.shape[1]
        tau = entries / loss if loss > 0 else float(entries)  # no comparisons: no loss
        rounds = max(1, math.ceil(math.log(entries / (self.eta * tau)) / math.log(self.growth)))
        step = 2 / 187 / max(float(np.vdot(x.left, x.left)), float(np.vdot(x.right, x.right)))
        for turn in range(1, rounds + 1):
            point = Point.at(likelihood, x, self.alpha, tau)
            assert point is not None  # the start is inside, and every point taken is
            for count in range(self.steps):
                ahead = self._ahead(likelihood, point, step, tau)
                if ahead is None:
                    residual, ended = entries / tau, True
                else:
                    ended = _moved(point.x, ahead.x) <= self.change or count == self.steps - 1
                    residual, point = (entries / tau if ended else math.nan), ahead
                info = {"round": turn, "tau": tau, "minimized": point.value, "largest": point.largest}
                yield Iterate(point.x, residual=residual, info=info)
                if ended:
                    break
            x, tau = point.x, tau * self.growth
        return Status.FINISHED, f"all {rounds} rounds are done"

    def finish(self, problem: CollaborativeRanking, iterate: Iterate) -> Rankings:
        return problem.from_factors(iterate.x)

    def _ahead(self, likelihood: BtlObjective, point: Point, step: float, tau: float) -> Point | None:
        """The next point; None where the step leaves the set and is not to be, or cannot be, shortened."""
        for _ in range(_HALVINGS):
            x = LowRank(point.x.left - step * point.slope.left, point.x.right - step * point.slope.right)
            ahead = Point.at(likelihood, x, self.alpha, tau)
            if ahead is not None and (self.outside == "end" or ahead.value <= point.value):
                return ahead
            if self.outside == "end":
                return None
            step /= 2
        return None

    def _begin(self, problem: CollaborativeRanking, space: Rank, run: Run) -> LowRank:
        """A random matrix with largest entry .95 alpha, or the start, pulled inside where it is not."""
        if run.start is None:
            x = random_start(problem.shape, problem.factor_rank, run.rng)
            return LowRank(self.alpha * x.left, x.right)
        start = problem.to_factors(run.start)
        if not finite(start):
            raise InvalidInput("start: every entry of the factors must be finite")
        start = space.project(start)
        most = start.largest()
        if most < self.alpha:
            return start
        run.warn(
            f"the start has a score of size {number(most)}, the barrier needs all below {self.alpha:g}: "
            f"it was scaled to {LARGEST * self.alpha:g}",
            identifier="collaborative.start-beyond-bound",
        )
        root = math.sqrt(LARGEST * self.alpha / most)
        return LowRank(root * start.left, root * start.right)


@dataclass(frozen=True)
class Point:
    """A matrix inside the bound, with the barrier function, its gradient by the factors, and max |X|."""

    x: LowRank
    value: float
    slope: LowRank
    largest: float

    @classmethod
    def at(cls, likelihood: BtlObjective, x: LowRank, alpha: float, tau: float) -> Point | None:
        """None outside, where the function is not defined."""
        if not finite(x):
            return None
        wall = barrier(x, alpha)
        if wall is None:
            return None
        loss, slope = likelihood.value_and_gradient(x)
        height, push, most = wall
        return cls(
            x,
            loss + height / tau,
            LowRank(slope.left + push.left / tau, slope.right + push.right / tau),
            most,
        )


def barrier(x: LowRank, alpha: float) -> tuple[float, LowRank, float] | None:
    """``-sum log(1 - (X/alpha)^2)``, its gradient by the factors, and max |X|; None where that is >= alpha.

    By blocks of rows, O(m n r) time.
    """
    height, most = 0.0, 0.0
    to_left, to_right = np.empty_like(x.left), np.zeros_like(x.right)
    for rows in blocks(x.shape[0], max(1, _BLOCK // x.shape[1])):
        scores: Array = x.left[rows] @ x.right.T
        most = max(most, float(scores.max()), -float(scores.min()))
        if not most < alpha:
            return None
        room = 1.0 - (scores / alpha) ** 2
        height -= float(np.log(room).sum())
        push = (2 / alpha**2) * scores / room
        to_left[rows] = push @ x.right
        to_right += push.T @ x.left[rows]
    return height, LowRank(to_left, to_right), most


def _moved(x: LowRank, ahead: LowRank) -> float:
    """|ahead - x|_F relative to |ahead|_F, from r x r Gram matrices."""
    # The difference as a product of its own, so that nothing cancels.
    change = LowRank(
        np.hstack([ahead.left - x.left, x.left]), np.hstack([ahead.right, ahead.right - x.right])
    )
    return math.sqrt(_squares(change) / _squares(ahead)) if _squares(ahead) > 0 else 0.0


def _squares(x: LowRank) -> float:
    return max(float(np.vdot(x.left.T @ x.left, x.right.T @ x.right)), 0.0)
