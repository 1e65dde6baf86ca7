"""Gradient steps into a set: x -> P(x - step * gradient), with the step fixed or searched for."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from optiframe.errors import InvalidInput
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.finite_gradient import not_finite
from optiframe.solving.result import Status
from optiframe_tvcs.sets.sparse_sets import Projector, norm

Step = Annotated[
    Literal["backtracking", "lipschitz"] | Annotated[float, Field(gt=0)],
    Field(description="backtracking; lipschitz: 1 / curvature bound; or a fixed step"),
]

LEAST_DECREASE = 0.01
"""Share of |move|^2 / (2 step) by which a step must lower the objective. Any share below one keeps
every step up to (1 - share)/L acceptable, L the curvature along differences of points of the set."""
HALVINGS = 60  # of a trial step: by then a move is below the rounding of the point
ROUNDING = 10 * float(np.finfo(np.float64).eps)  # of an objective; decreases below it cannot be seen
FAR = 1e100
"""A move over its step as long as this ends a run as diverged, well before squares overflow at 1e154."""
_SECANT = 1e-4  # relative length of the step along which the first curvature is measured


def why_no_step(problem: Minimize, step: Step) -> str | None:
    """A sentence when `step = "lipschitz"` is asked of an objective without a curvature bound."""
    if step == "lipschitz" and not problem.function.offers(Objective.curvature):
        return (
            f"the objective {problem.function.known_as!r} has no curvature bound for step = "
            '"lipschitz"; take "backtracking" or give a number'
        )
    return None


def into(onto: Projector, point: Array) -> Array | None:
    """The projection of a point; None where it is not finite, or nan came in.

    Entries may be infinite, as those of gradients on the boundary of a set, which then holds the point there.
    """
    if np.isnan(point).any():  # sets that keep the largest entries take nan for 0
        return None
    try:
        found = np.asarray(onto.project(point))
    except InvalidInput:
        if np.isfinite(point).all():
            raise
        return None  # a `ThreeView` takes finite points only
    return found if np.isfinite(found).all() else None


def nowhere(gradient: Array) -> tuple[Status, str]:
    """How a run ends at a gradient along which no step leads anywhere."""
    return not_finite(gradient) or (Status.STALLED, "no step along the gradient lowers the objective")


def first_trial(function: Objective, x: Array, gradient: Array) -> float:
    """One over the curvature at `x` along the finite part of the gradient, by a difference of two."""
    gradient = np.where(np.isfinite(gradient), gradient, 0.0)
    length = norm(gradient)
    if length == 0.0:
        return 1.0
    ahead = _SECANT * max(1.0, norm(x))
    change = gradient - function.gradient(x - (ahead / length) * gradient)
    curvature = float(np.vdot(change, gradient)) / (ahead * length)
    # Not convex there, or flat, or beyond float64: a step as long as the point itself.
    return 1.0 / curvature if 0 < curvature < np.inf else max(1.0, norm(x)) / length


class Descent:
    """The gradient steps of one run.

    With "backtracking" a trial step is the Barzilai-Borwein one, |dx|^2 / <dx, dg> of the last
    move; it is halved until the objective falls by `LEAST_DECREASE` * |move|^2 / (2 step). The
    curvature that counts is that along differences of sparse points, which for fewer samples
    than entries is far below the L of "lipschitz": steps are longer by as much.
    """

    def __init__(self, function: Objective, onto: Projector, step: Step) -> None:
        self.function, self.onto, self.rule = function, onto, step
        self.step = 0.0
        if step == "lipschitz":
            curvature = function.curvature()
            self.step = 1.0 / curvature if curvature > 0 else 1.0  # flat: every step is as good
        elif step != "backtracking":
            self.step = float(step)
        self._last: tuple[Array, Array] | None = None
        self._moved: tuple[Array, float] | None = None  # the point that a search ended at, and its value

    def move(self, x: Array, gradient: Array) -> Array | None:
        """P(x - step * gradient); None when not finite, or when backtracking finds no step that goes down."""
        if self.rule != "backtracking":
            return into(self.onto, x - self.step * gradient)
        trial = self._trial(x, gradient)
        self._last = x, gradient
        value = self._moved[1] if self._moved and self._moved[0] is x else self.function.value(x)
        room = ROUNDING * abs(value)
        for _ in range(HALVINGS):
            if (moved := into(self.onto, x - trial * gradient)) is not None:
                bound = value - LEAST_DECREASE * float(np.sum((moved - x) ** 2)) / (2 * trial) + room
                with np.errstate(over="ignore", invalid="ignore"):  # a trial may be far too long
                    ahead = self.function.value(moved)
                if ahead <= bound:
                    self.step, self._moved = trial, (moved, ahead)
                    return moved
            trial /= 2
        return None

    def _trial(self, x: Array, gradient: Array) -> float:
        if self._last is None:
            return first_trial(self.function, x, gradient)
        with np.errstate(invalid="ignore"):  # infinite entries: then nothing is known of the curvature
            moved, change = x - self._last[0], gradient - self._last[1]
        bend = float(np.vdot(moved, change))
        # Not convex along the move: nothing speaks against a longer step.
        return float(np.sum(moved**2)) / bend if bend > 0 else 2.0 * self.step
