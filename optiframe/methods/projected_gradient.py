"""Spectral projected gradient: steps of Barzilai and Borwein, projected, with a non-monotone test."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from pydantic import Field, PositiveInt

from optiframe.methods.smooth_part import TINY, Composed, first_point, no_step
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_DECREASE = 1e-4  # share of |move|^2 / (2 step) by which the objective must fall (Wright et al., Eq. 22)
_SHRINK = 0.5


class ProjectedGradient(Solver[Minimize, Array, None]):
    """Spectral projected gradient (SPG2 with the test of SpaRSA).

    One iteration costs one gradient, one or a few values and projections; memory is a few points. Steps are
    the inverse curvature along the last move (Barzilai and Borwein 1988), shortened until the objective
    is below the largest of the last few. It takes sets that are not convex, too, such as `stiefel`, where
    it ends at a point that no gradient step betters and that need not be the best. Where the curvature is
    negative, steps grow; the residual is then that of a step as long as the curvature's size gives.
    """

    name = "gradient.projected"
    solves = Minimize
    uses = (Objective.gradient, ConstraintSet.project)
    accepts_start = True
    monotone = False
    residual_meaning = "largest entry of the gradient map (x - P(x - step g)) / step"
    reference = "Birgin, Martinez and Raydan 2000; Wright, Nowak and Figueiredo 2009, Section II"

    memory: PositiveInt = Field(
        default=10,
        description="a step must not raise the objective above the largest of this many last values",
    )

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        composed = Composed(problem)
        x = composed.prox(first_point(problem, run), 0.0)
        value, slope = composed.smooth(x)
        if not math.isfinite(value):
            return Status.DIVERGED, "the objective is not finite where the solver is"
        recent = deque([value], maxlen=self.memory)
        step, trusted = composed.first_step(x), math.inf
        while True:
            most = max(recent)
            while True:
                if step < TINY:
                    return no_step(slope)
                ahead = composed.prox(x - step * slope, step)
                move = ahead - x
                square = float(np.vdot(move, move))
                value = composed.value(ahead)
                if value <= most - _DECREASE * square / (2 * step) or composed.is_rounding(
                    most, square / step
                ):
                    break
                step *= _SHRINK
            if step > trusted:  # a long step says little: its move is bounded where the set is
                short = composed.prox(x - trusted * slope, trusted)
                residual = float(np.abs(short - x).max(initial=0.0)) / trusted
            else:
                residual = float(np.abs(move).max(initial=0.0)) / step
            before, slope = slope, composed.gradient(ahead)
            bend = float(np.vdot(move, slope - before))
            x = ahead
            recent.append(value)
            yield Iterate(x, residual=residual)
            if bend:
                trusted = square / -bend if bend < 0 else math.inf
            step = min(max(square / bend, step * 1e-3), step * 1e3) if bend > 0 else step * 2
