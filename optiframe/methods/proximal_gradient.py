"""Accelerated proximal gradient: a smooth objective plus what has a proximal step."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.methods.smooth_part import TINY, Composed, first_point, no_step
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_GROWTH = 1.1  # of a step from one iteration to the next, unless the test shrinks it again
_SHRINK = 0.5


class ProximalGradient(Solver[Composite, Array, None]):
    """FISTA with backtracking in both directions and restarts.

    One iteration costs one gradient, one or a few values and one proximal step; memory is a few points.
    The step adapts to the curvature met on the way, up and down (Scheinberg, Goldfarb and Bai 2014). The
    momentum restarts when it points against the last step (O'Donoghue and Candes 2015), and where the
    objective would rise: so the objective never rises, and problems that are not convex end at a
    stationary point.
    """

    name = "gradient.proximal"
    solves = Composite
    uses = (Objective.gradient,)
    accepts_start = True
    residual_meaning = "largest entry of the gradient map (y - prox(y - step g)) / step at the extrapolated y"
    reference = (
        "Beck and Teboulle 2009 (FISTA); O'Donoghue and Candes 2015; Scheinberg, Goldfarb and Bai 2014"
    )

    step: PositiveFloat | None = Field(
        default=None, description="first step; none: from the curvature bound, or else by a trial"
    )

    def unsuited(self, problem: Composite) -> str | None:
        return problem.proximal.lacking

    def iterates(self, problem: Composite, run: Run) -> Iterates:
        composed = Composed(problem)
        x = composed.prox(first_point(problem, run), 0.0)
        best = composed.at(x)
        y, momentum = x, 1.0
        step = composed.first_step(x) if self.step is None else self.step
        while True:
            value, slope = composed.smooth(y)
            if not math.isfinite(value):
                if y is x:
                    return Status.DIVERGED, "the objective is not finite where the solver is"
                y, momentum = x, 1.0  # the extrapolation left the objective's domain
                continue
            before, step = step, step * _GROWTH
            while True:
                if step < TINY:
                    return no_step(slope)
                ahead = composed.prox(y - step * slope, step)
                move = ahead - y
                if composed.keeps_bound(ahead, value, slope, move, step):
                    break
                step *= _SHRINK
            residual = float(np.max(np.abs(move), initial=0.0)) / step
            reached = composed.at(ahead)
            if reached > best and y is not x:
                y, momentum, step = x, 1.0, before  # the extrapolation led upwards: once more, without it
                continue
            if not np.any(move) or (np.vdot(move, ahead - x) < 0 and y is not x):
                momentum = 1.0
            following = (1 + math.sqrt(1 + 4 * momentum**2 * before / step)) / 2
            y = ahead + (momentum - 1) / following * (ahead - x) if momentum > 1 else ahead
            momentum, x, best = following, ahead, reached
            yield Iterate(x, residual=residual)
