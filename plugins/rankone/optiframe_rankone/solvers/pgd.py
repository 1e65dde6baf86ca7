"""Plug-in gradient descent on the correlations between workers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.completion.fit import RankOneFit
from optiframe_rankone.solvers import signs

_SHARES = (0.5, 1.0)
"""Of its way to its best value that each entry goes, in turn. Near the answer a step by the share w
multiplies an error by 1 - w h, where h is an eigenvalue of the Hessian over its diagonal, at most
2 since [[a, b], [b, c]] <= 2 diag(a, c) for each pair. Half-way is safe for all of them and
removes h = 2, the common scale of all entries; the whole way removes h = 1, where most errors
are when workers have many partners. No h grows: |(1 - h/2)(1 - h)| <= 1 up to h = 2."""
_LEAST_SHARE = 2.0**-40  # of the way: by then a rise is rounding


@dataclass(frozen=True)
class _Point:
    """A point with what one pass over the pairs tells about it."""

    x: Array
    pull: Array
    curvature: Array
    best: Array
    level: float
    rounding: float

    @classmethod
    def of(cls, problem: RankOneFit, x: Array) -> _Point:
        pull, curvature = problem.least_squares.pairs.pulls(x)
        down, up = 2.0 * float(np.dot(x, pull)), float(np.dot(x * x, curvature))
        # The objective up to its constant; sums of thousands of terms are good to twelve digits.
        level, rounding = (up - down) / 4, 1e-12 * (up + abs(down))
        return cls(x, pull, curvature, problem.best(x, pull, curvature), level, rounding)


class ProjectedGradient(Solver[RankOneFit, Array, None]):
    """Plug-in gradient descent: a gradient step on the weighted least squares, then the box.

    Needs correlations between workers; gives skills up to sign in each connected component
    of the worker graph, and there only if it has an odd cycle. One step costs one pass over
    the known pairs, or two over the labels where pairs are not counted; memory besides the
    problem is a few vectors.

    ::

        x <- clip(x + step * sum_j N_ij (C_ij - x_i x_j) x_j)

    The step is one of

    - ``scaled`` (the default): each coordinate's gradient is divided by its own curvature
      sum_j N_ij x_j^2, which leads to the value that is best for it while the others stay
      (a Jacobi sweep). Sweeps alternate half and full steps. Where one would
      raise the objective, as it may far from the answer, its way is halved until it does not;
    - ``lipschitz``: 1/L, where L bounds the curvature within the box (`RankOneFit.lipschitz`),
      so that the objective never rises;
    - a number: the fixed step of Sec. 4.1. Too large a step may raise the objective; the
      last point is the answer all the same.

    One step for all must suit the busiest worker and is then far too small for the others:
    with 200 workers whose activity falls off as 1/rank, ``lipschitz`` took 10,512 steps to the
    objective that ``scaled`` reached in 6 (`examples/bench/rankone_steps.py`).

    The residual is in units of skill: how far any worker is from the value that is best for
    that worker while the others stay. Coordinates without curvature (nobody to compare with) stay
    where they are.

    With ``signs = "recovered"`` the descent runs on |C|, and signs are read breadth-first
    afterwards (Sec. 5.2); the residual is that of the fit to |C|. The theory is simpler and
    the answer worse, on sparse labels much worse: see `optiframe_rankone.solvers.signs`.
    """

    name = "rankone.pgd"
    solves = RankOneFit
    accepts_start = True
    residual_meaning = "largest distance of an entry to its best value within the bounds, the others fixed"
    reference = "Ma et al., Sec. 4.1, with the projection of Sec. 6"

    step: Literal["scaled", "lipschitz"] | Annotated[float, Field(gt=0)] = Field(
        default="scaled",
        description="scaled: each entry by its own curvature; lipschitz: 1/L; or a fixed step",
    )
    signs: Literal["free", "recovered"] = Field(
        default="free",
        description="free: signs are fitted; recovered: fit |C|, then read signs breadth-first",
    )

    def unsuited(self, problem: RankOneFit) -> str | None:
        if self.step == "lipschitz" and not np.isfinite(problem.lipschitz()):
            return 'step = "lipschitz" needs bounds: without them the curvature has none'
        return None

    def iterates(self, problem: RankOneFit, run: Run) -> Iterates:
        x = problem.from_start(run.start)
        if self.signs == "recovered":
            problem = signs.of_absolute_values(problem)
            x = problem.initial() if run.start is None else np.abs(x)
        at, shares = _Point.of(problem, x), cycle(_SHARES)
        while True:
            if self.step == "scaled":
                at = self._towards_best(problem, at, next(shares))
            else:
                step = 1.0 / problem.lipschitz() if self.step == "lipschitz" else self.step
                at = _Point.of(problem, problem.clip(at.x + step * (at.pull - at.curvature * at.x)))
            yield Iterate(at.x, residual=float(np.abs(at.best - at.x).max()))

    @staticmethod
    def _towards_best(problem: RankOneFit, at: _Point, share: float) -> _Point:
        while True:
            ahead = _Point.of(problem, at.x + share * (at.best - at.x))
            if ahead.level <= at.level + at.rounding or share < _LEAST_SHARE:
                return ahead
            share /= 2

    def finish(self, problem: RankOneFit, iterate: Iterate) -> Array:
        x = problem.settled(iterate.x)
        return signs.recovered(problem, x) if self.signs == "recovered" else x
