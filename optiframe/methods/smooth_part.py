"""What first-order methods ask of a problem: values, gradients, proximal steps, and the test of a step."""

from __future__ import annotations

import math

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.finite_gradient import not_finite
from optiframe.solving.result import Status
from optiframe.solving.solver import Run

_ROUNDING = 1e-13  # relative: values of the objective that differ by less are the same but for rounding
TINY = 1e-200
"""Steps shorter than this do not come from a curvature: no step of any length is good."""
NO_STEP = "no step along the gradient lowers the objective: its value and its gradient may not agree"
_TRIAL = 1e-4  # length of the move, relative to the point, along which the curvature is tried


def no_step(slope: Array) -> tuple[Status, str]:
    """The end where no step of any length is good."""
    return not_finite(slope) or (Status.STALLED, NO_STEP)


class Composed:
    """A `Composite` as a smooth part f and the rest; remembers the last value and gradient asked for."""

    def __init__(self, problem: Composite) -> None:
        self.function, self.rest = problem.function, problem.proximal
        self._point: Array | None = None
        self._value = math.nan

    def value(self, x: Array) -> float:
        """f at `x`; that of the last point is remembered."""
        if x is not self._point:
            self._point, self._value = x, float(self.function.value(x))
        return self._value

    def at(self, x: Array) -> float:
        """f plus the regularizers."""
        return self.value(x) + self.rest.value(x)

    def smooth(self, x: Array) -> tuple[float, Array]:
        """f and its gradient."""
        return self.value(x), self.gradient(x)

    def gradient(self, x: Array) -> Array:
        """The gradient of f."""
        return np.asarray(self.function.gradient(x), dtype=np.float64)

    def prox(self, v: Array, step: float) -> Array:
        """The proximal step of the rest: for a `Minimize` the projection."""
        return self.rest.step(v, step)

    def first_step(self, x: Array) -> float:
        """One over the curvature: its bound where the objective has one, else along the gradient at `x`."""
        if self.function.offers(Objective.curvature):
            bound = self.function.curvature()
            if bound > 0:
                return 1.0 / bound
        slope = np.asarray(self.function.gradient(x), dtype=np.float64)
        size = float(np.linalg.norm(slope))
        if not (math.isfinite(size) and size > 0):
            return 1.0
        ahead = x - _TRIAL * max(1.0, float(np.linalg.norm(x))) / size * slope
        change = float(np.linalg.norm(np.asarray(self.function.gradient(ahead)) - slope))
        moved = float(np.linalg.norm(ahead - x))
        return moved / change if math.isfinite(change) and change > 0 else 1.0 / size

    def keeps_bound(self, ahead: Array, value: float, slope: Array, move: Array, step: float) -> bool:
        """Whether f lies below its model of curvature 1/step, made where it has `value` and `slope`.

        Where the model promises no more than rounding of f, the gradients decide instead.
        """
        square = float(np.vdot(move, move))
        if square == 0.0:
            return True
        reached = self.value(ahead)
        if self.is_rounding(value, square / step):
            change = np.asarray(self.function.gradient(ahead)) - slope
            return bool(np.vdot(move, change) <= square / step)
        return reached <= value + float(np.vdot(slope, move)) + square / (2 * step)

    def is_rounding(self, value: float, change: float) -> bool:
        """Whether a change of f is lost in the rounding of its value."""
        return change <= _ROUNDING * max(abs(value), math.ulp(0.0))


def first_point(problem: Composite, run: Run) -> Array:
    """The caller's start, else the problem's, as an array of its own.

    Raises
    ------
    InvalidInput
        When an entry is not finite.
    """
    start = np.array(problem.initial() if run.start is None else run.start, dtype=np.float64)
    if not np.isfinite(start).all():
        raise InvalidInput("every entry of start must be finite")
    return start
