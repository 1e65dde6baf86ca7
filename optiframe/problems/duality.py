"""Upper bounds on how far an answer's objective is from the least one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.regularizers.proximal import Proximal
from optiframe.problems.regularizers.regularizer import Norm
from optiframe.problems.sets.constraint_set import ConstraintSet, WholeSpace
from optiframe.records.fields import Array


def duality_gap(function: Objective, rest: Proximal, x: Any) -> float | None:
    """How much lower than at `x` the objective can be at most, where a convex problem tells; else None.

    Over a bounded set without regularizers by linearization (Frank and Wolfe; Jaggi 2013, Section 2); of a
    linear model with a norm or half a squared norm over all points by Fenchel's duality, as of any
    objective that has a conjugate with a norm.
    """
    if not (function.convex and rest.convex):
        return None
    if not rest.terms and rest.over.offers(ConstraintSet.farthest) and function.offers(Objective.gradient):
        slope = np.asarray(function.gradient(x))
        return _bound(float(np.vdot(slope, x - rest.over.farthest(-slope))))
    if isinstance(rest.over, WholeSpace) and isinstance(function, LinearModel):
        return _fenchel(function, rest, np.asarray(x))
    if isinstance(rest.over, WholeSpace) and rest.terms and function.offers(Objective.conjugate):
        return _by_conjugate(function, rest, np.asarray(x))
    return None


def _by_conjugate(function: Objective, rest: Proximal, x: Array) -> float | None:
    """With dual point u, the gradient projected onto the ball of the dual norm: f(x) + r(x) + f*(u)."""
    norm = rest.others[0] if len(rest.others) == 1 and not rest.quadratic else None
    if not (isinstance(norm, Norm) and function.offers(Objective.gradient)):
        return None
    slope = np.asarray(function.gradient(x))
    dual = slope - norm.prox(slope, 1.0)  # Moreau
    return _bound(function.value(x) + rest.value(x) + function.conjugate(dual))


def _fenchel(model: LinearModel, rest: Proximal, x: Array) -> float | None:
    """With dual point u = s * slopes of the losses: f(x) + r(x) + mean conjugate(u) + r*(-A'u / n).

    The factor s brings A'u / n into the ball of the dual norm where the conjugate r* of a norm is finite.
    With a half squared norm of weight q beside the norm, r* is the squared distance to that ball over 2 q.
    """
    if len(rest.others) > 1 or not model.offers(LinearModel.conjugates):
        return None
    norm = rest.others[0] if rest.others else None
    if norm is not None and not isinstance(norm, Norm):
        return None
    quadratic = model.l2 + rest.quadratic
    predictions = np.asarray(model.matrix @ x)
    slopes = model.slopes(predictions)
    inner = -np.asarray(model.matrix.T @ slopes) / len(model)
    if quadratic > 0:
        outside = inner if norm is None else norm.prox(inner, 1.0)  # Moreau: less its projection on the ball
        scale, conjugate = 1.0, float(outside @ outside) / (2 * quadratic)
    elif norm is None:
        return None
    else:
        size = norm.polar(inner)
        if not math.isfinite(size):
            return None
        scale, conjugate = 1.0 / max(1.0, size), 0.0
    here = float(model.losses(predictions).mean()) + model.l2 / 2 * float(x @ x) + rest.value(x)
    return _bound(here + float(model.conjugates(scale * slopes).mean()) + conjugate)


def _bound(gap: float) -> float:
    """Never below zero by rounding; infinite, which is true of any point, where numbers overflowed."""
    return math.inf if math.isnan(gap) else max(0.0, gap)
