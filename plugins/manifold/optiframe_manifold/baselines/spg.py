"""Spectral projected gradients on the nuclear-norm ball: the convex rival of the paper."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PositiveInt

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_manifold.baselines.nuclear import Relaxation, gap
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.solvers.starts import random_start

_SUFFICIENT = 1e-4  # share of the decrease a straight line promises that has to be there (Armijo; BMR)
_SHRINK = (0.1, 0.5)  # a shortened step is between these shares of the one before (BMR)
_STEPS = (1e-10, 1e10)  # bounds of the spectral step (BMR use 1e-30 and 1e30; no data need more)
_CERTIFY = 10  # iterations between certificates, each a quarter of a projection


@dataclass(frozen=True)
class Point:
    """Where the search is: the matrix, the objective and its gradient there, and the last spectral step."""

    x: Array
    value: float
    gradient: Array
    step: float


class SpectralProjectedGradient(Relaxation):
    """Spectral projected gradient with a non-monotone line search, on the nuclear-norm ball.

    Minimizes the negative log-likelihood alone, of the whole matrix (Eq. 7). Each step goes along
    P(X - s G) - X, for Barzilai and Borwein's s, as far as the objective falls below the largest of
    the last `memory`. Convex: every start leads to the same value. The answer is not of low rank
    unless the ball is small; it is cut to the problem's rank afterwards (`cut`).

    One step is one singular value decomposition, O(m n min(m, n)) time, and memory is about
    100 m n bytes: for up to some thousand users and items.

    The trace has the length of each step, the objective minimized (without the problem's penalty), and
    the nuclear norm at every tenth.
    """

    name = "btl.spg"
    reference = "Birgin, Martinez, Raydan 2000; Davenport et al. 2014; Dong et al., Eq. 7"
    residual_meaning = (
        "at every tenth step, a bound on how far the minimized function is above its least value, relative"
    )
    accepts_start = True
    former_names = (("begin", "init"),)

    init: Literal["random", "zero"] = Field(
        default="random",
        description="without a start: a random matrix of the rank, largest entry .95, as the paper, or zero",
    )
    memory: PositiveInt = Field(
        default=10, description="last values of which one must be undercut; 1: the objective never rises"
    )
    most: Annotated[int, Field(ge=1)] = Field(
        default=30, description="times a step is shortened before it is given up"
    )

    def iterates(self, problem: CollaborativeRanking, run: Run) -> Iterates:
        objective, ball = self.relaxed(problem)
        search = spectral_projected_gradient(
            objective.value_and_gradient,
            ball.project,
            self._first(problem, run),
            memory=self.memory,
            most=self.most,
        )
        count = 0
        while True:
            try:
                point = next(search)
            except StopIteration as end:
                return Status.STALLED, end.value
            count += 1
            residual, info = math.nan, {"step": point.step, "minimized": point.value}
            if count % _CERTIFY == 0:
                residual = gap(point.x, point.gradient, ball.radius) / max(abs(point.value), 1.0)
            yield Iterate(point.x, residual=residual, info=info)

    def _first(self, problem: CollaborativeRanking, run: Run) -> Array:
        if run.start is not None:
            return problem.to_factors(run.start).dense()
        if self.init == "zero":
            return np.zeros(problem.shape)
        return random_start(problem.shape, problem.factor_rank, run.rng).dense()


def spectral_projected_gradient(
    function: Callable[[Array], tuple[float, Array]],
    project: Callable[[Array], Array],
    start: Array,
    *,
    memory: int = 10,
    most: int = 30,
) -> Generator[Point, None, str]:
    """Minimize a differentiable function over a convex set (Birgin, Martinez and Raydan 2000, SPG2).

    Parameters
    ----------
    function
        Gives the value and the gradient at an array.
    project
        Gives the nearest point of the set.
    start
        Projected onto the set first.
    memory
        Number of last values of which the largest must be undercut.
    most
        Times a step is shortened before the search gives up.

    Yields
    ------
    Point
        After every step.

    Returns
    -------
    str
        Why no further progress is possible.
    """
    x = project(start)
    value, gradient = function(x)
    values = deque([value], maxlen=memory)
    ahead = project(x - gradient) - x
    longest = float(np.abs(ahead).max(initial=0.0))
    step = _bounded(1.0 / longest) if longest > 0 else 1.0
    while True:
        direction = project(x - step * gradient) - x
        slope = float(np.vdot(gradient, direction))
        if not slope < 0:
            return "the projected gradient vanishes"
        length, ceiling = 1.0, max(values)
        for _ in range(most):
            proposal = x + length * direction
            reached, bent = function(proposal)
            if reached <= ceiling + _SUFFICIENT * length * slope:
                break
            length = _shorter(length, slope, reached - value)
        else:
            return "no step, however short, lowers the objective enough"
        moved, turned = proposal - x, bent - gradient
        x, value, gradient = proposal, reached, bent
        values.append(value)
        curvature = float(np.vdot(moved, turned))
        step = _bounded(float(np.vdot(moved, moved)) / curvature) if curvature > 0 else _STEPS[1]
        yield Point(x, value, gradient, step)


def _shorter(length: float, slope: float, rise: float) -> float:
    """Where the parabola through the value, the slope and the value reached is least, within limits."""
    bend = rise - length * slope
    best = -0.5 * length**2 * slope / bend if bend > 0 else math.nan
    low, high = (share * length for share in _SHRINK)
    return best if low <= best <= high else high


def _bounded(step: float) -> float:
    return min(max(step, _STEPS[0]), _STEPS[1])
