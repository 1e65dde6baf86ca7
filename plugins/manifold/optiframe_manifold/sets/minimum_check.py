"""A look along the set around an answer: does the objective fall on both sides of it?"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array

Near = Callable[[Array, Array], Array]
"""A point of the set near a point of it plus a short vector, with an error of second order."""

_STEP = 1e-4  # of differences, relative to the answer's largest entry
_AWAY = 1e-3  # how far to look, in the same unit
_MOST = 12  # products with the Hessian with which a direction is looked for
_ROUNDING = 1e-12  # relative to values above 1: a smaller difference may be rounding
_TINY = 1e-10  # relative: a direction that is left over is none


def not_a_minimum(function: Objective, x: Array, near: Near) -> Finding | None:
    """A warning where the objective falls on both sides of the answer, along a curve in the set.

    A small gradient cannot feign this, and where the slope is not small against the fall nothing is said. The
    curve is the one of least curvature as found by a few gradients (Lanczos); without gradients nothing is
    looked for.
    """
    if not function.offers(Objective.gradient) or not np.isfinite(x).all():
        return None
    unit = max(1.0, float(np.max(np.abs(x), initial=0.0)))
    away = _AWAY * unit
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            line = _least_curved(function, x, near, _STEP * unit)
            slope = float(np.linalg.norm(_along(x, function.gradient(x), near, _STEP * unit)))
            here = function.value(x)
            sides = [function.value(near(x, sign * away * line)) for sign in (1.0, -1.0)]
        except Exception:  # of a function beside the answer; the run has said what matters
            return None
    fall = here - max(sides)
    if not fall > max(_ROUNDING * max(1.0, abs(here)), slope * away):  # else it has not yet arrived
        return None
    return Finding(
        "warning",
        "The answer is not a minimum: along a curve in the set the objective falls on both sides of it, by "
        f"{number(fall)} within {number(away)}. The gradient vanishes at maxima and saddle points, too: give "
        "another start",
        identifier="objective.not-a-minimum",
    )


def _along(point: Array, v: Array, near: Near, step: float) -> Array:
    """What of a vector lies along the set: the derivative of `near`."""
    size = float(np.linalg.norm(v))
    if size == 0.0:
        return np.zeros(np.shape(v))
    ahead, behind = (near(point, sign * step / size * np.asarray(v)) for sign in (1.0, -1.0))
    return np.asarray((ahead - behind) * (size / (2 * step)))


def _least_curved(function: Objective, x: Array, near: Near, step: float) -> Array:
    """A direction of length one along the set in which the objective has about its least curvature."""

    def along(point: Array, v: Array) -> Array:
        return _along(point, v, near, step)

    def bend(v: Array) -> Array:
        """The Hessian along the set, applied to a direction of length one."""
        ahead, behind = (near(x, sign * step * v) for sign in (1.0, -1.0))
        slopes = [along(point, np.asarray(function.gradient(point))) for point in (ahead, behind)]
        return along(x, (slopes[0] - slopes[1]) / (2 * step))

    rng = np.random.default_rng(0)
    found: list[Array] = []
    bends: list[Array] = []
    v = along(x, rng.standard_normal(x.shape))
    for _ in range(min(_MOST, x.size)):
        before = float(np.linalg.norm(v))
        for _ in range(2):  # twice is enough (Kahan and Parlett)
            for each in found:
                v = v - np.vdot(each, v) * each
        size = float(np.linalg.norm(v))
        if not size > _TINY * before:
            break
        found.append(v / size)
        bends.append(bend(found[-1]))
        v = bends[-1]
    form = np.array([[float(np.vdot(one, other)) for other in bends] for one in found])
    shares = np.linalg.eigh((form + form.T) / 2)[1][:, 0]
    line = sum((share * each for share, each in zip(shares, found, strict=True)), np.zeros_like(x))
    return np.asarray(line / np.linalg.norm(line))
