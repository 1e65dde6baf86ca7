"""Frank and Wolfe's method with away steps: a smooth objective over a set with farthest points."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field

from optiframe.methods.smooth_part import TINY, Composed
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.finite_gradient import not_finite
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_GROWTH, _SHRINK = 2.0, 0.9  # of the curvature when a step fails its test, and from one step to the next
_GONE = 1e-14  # weights below this share are rounding


class FrankWolfe(Solver[Minimize, Array, None]):
    """The conditional gradient method, which needs farthest points of the set and no projection.

    A point is kept as weights of the vertices it was made of. A step goes towards the vertex farthest along
    the negative gradient, or away from the worst of its own vertices where that promises more; away steps
    make it converge linearly over polytopes (Lacoste-Julien and Jaggi 2015). The length follows from a
    curvature that adapts to what is met (Pedregosa et al. 2020). It begins at a vertex. One iteration
    costs one gradient, a few values and one farthest point; memory is one point for each vertex in use.
    """

    name = "gradient.frank-wolfe"
    solves = Minimize
    uses = (Objective.gradient, ConstraintSet.farthest)
    residual_meaning = "the duality gap <gradient, x - farthest point>, which bounds the error where convex"
    reference = "Frank and Wolfe 1956; Lacoste-Julien and Jaggi 2015, Algorithm 1; Pedregosa et al. 2020"

    away: bool = Field(default=True, description="whether steps away from a vertex are taken")

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        composed, over = Composed(problem), problem.over
        start = np.asarray(over.farthest(-problem.function.gradient(problem.initial())), dtype=np.float64)
        x = start
        vertices, weights = {start.tobytes(): start}, {start.tobytes(): 1.0}
        value, slope = composed.smooth(x)
        if not math.isfinite(value):
            return Status.DIVERGED, "the objective is not finite where the solver is"
        curvature = 1.0 / composed.first_step(x)
        ahead = np.asarray(over.farthest(-slope), dtype=np.float64)
        gap = float(np.vdot(slope, x - ahead))
        while True:
            if (end := not_finite(slope)) is not None:
                yield Iterate(x)
                return end
            worst, backwards = b"", False
            if self.away and len(vertices) > 1:
                worst = max(vertices, key=lambda key: float(np.vdot(slope, vertices[key])))
                backwards = float(np.vdot(slope, vertices[worst] - x)) > gap
            if backwards:
                behind = vertices[worst]
                move, most = x - behind, weights[worst] / (1 - weights[worst])
            else:
                move, most = ahead - x, 1.0
            promise, square = -float(np.vdot(slope, move)), float(np.vdot(move, move))
            if promise <= 0 or square == 0.0:
                yield Iterate(x, residual=max(0.0, gap))
                return Status.STALLED, "no vertex of the set promises a lower objective"
            curvature *= _SHRINK
            while True:
                length = min(promise / (curvature * square), most)
                model = value - length * promise + length**2 * curvature * square / 2
                trial = x + length * move
                reached = composed.value(trial)
                if reached <= model or composed.is_rounding(value, length * promise):
                    break
                if length * promise < TINY:
                    return Status.STALLED, "no step along the gradient lowers the objective"
                curvature *= _GROWTH
            factor = 1 + length if backwards else 1 - length
            weights = {key: weight * factor for key, weight in weights.items()}
            key = worst if backwards else ahead.tobytes()
            weights[key] = weights.get(key, 0.0) + (-length if backwards else length)
            vertices.setdefault(key, ahead)
            kept = {key: weight for key, weight in weights.items() if weight > _GONE}
            if len(kept) < len(weights):  # a vertex has gone: the rest must sum to one again
                total = sum(kept.values())
                weights = {key: weight / total for key, weight in kept.items()}
                vertices = {key: vertices[key] for key in weights}
            x = trial
            value, slope = composed.smooth(x)
            ahead = np.asarray(over.farthest(-slope), dtype=np.float64)
            gap = float(np.vdot(slope, x - ahead))
            yield Iterate(x, residual=max(gap, 0.0))  # in this order: nan stays nan
