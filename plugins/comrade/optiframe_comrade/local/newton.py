"""Newton's method on data in one place, with the pieces of a step shared by whoever needs them."""

from __future__ import annotations

import numpy as np

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe_comrade.local.products import conjugate_gradients
from optiframe_comrade.local.step import hessian_step, is_plain, sweeps
from optiframe_comrade.local.sweep import Precision, Sweep
from optiframe_comrade.local.symmetric import solve_symmetric

_ENOUGH = 1e-4  # Armijo's constant, the usual one
_STEPS = 100  # some ten suffice
_HALVINGS = 30  # beyond, the step is lost in the rounding of x
_ROUNDING = 1e-15  # relative error of a mean of losses


def minimum(f: Objective, x: Array | None = None) -> Array:
    """The minimizer of a convex objective to about the rounding of float64, by Newton's method."""
    pieces = at_point(f, np.zeros(f.shape) if x is None else x)
    gradient = pieces.gradient()
    for _ in range(_STEPS):
        before = float(np.abs(gradient).max(initial=0.0))
        direction = pieces.newton(gradient)
        if before == 0.0 or pieces.search(direction, float(gradient @ direction)) == 0.0:
            break
        gradient = pieces.gradient()
        # Quadratic convergence ends where rounding begins: the gradient no longer falls.
        if before < 1e-8 and float(np.abs(gradient).max()) > before / 2:
            break
    return np.asarray(pieces.x)


class AtPoint:
    """An objective at a point, for Newton's method."""

    def __init__(self, f: Objective, x: Array) -> None:
        self.f: Objective = f
        self.x = np.array(x, dtype=np.float64)
        self.value: float | None = None  # the objective here, once it has been needed

    def gradient(self) -> Array:
        return np.asarray(self.f.gradient(self.x))

    def newton(self, gradient: Array) -> Array:
        """Hessian^-1 gradient."""
        f, x = self.f, self.x
        if f.offers(Objective.hessian):
            return solve_symmetric(f.hessian(x), gradient)
        return conjugate_gradients(lambda v: np.asarray(f.hessian_product(x, v)), gradient)

    @property
    def predictions(self) -> Array | None:
        """The scores of the rows here, shape (n,), where they are at hand."""
        return None

    def ahead(self, direction: Array, length: float) -> float:
        """The objective at x - length direction."""
        return self.f.value(self.x - length * direction)

    def move(self, direction: Array, length: float) -> None:
        self.x = self.x - length * direction

    def search(self, direction: Array, slope: float) -> float:
        """Move by 1, 1/2, 1/4, ... of the direction, the first that decreases enough; 0 when none does."""
        now = self.ahead(direction, 0.0) if self.value is None else self.value
        room = _ROUNDING * abs(now)
        for halvings in range(_HALVINGS):
            length = 0.5**halvings
            ahead = self.ahead(direction, length)
            if ahead <= now - _ENOUGH * length * slope + room:
                self.move(direction, length)
                self.value = ahead
                return length
        return 0.0


class _Linear(AtPoint):
    """A linear model at a point, with its predictions kept."""

    def __init__(self, f: LinearModel, x: Array) -> None:
        super().__init__(f, x)
        self.f: LinearModel = f
        self.z = np.asarray(f.matrix @ self.x)
        self.change = self.z

    @property
    def predictions(self) -> Array | None:
        return self.z

    def gradient(self) -> Array:
        f = self.f
        return np.asarray(f.matrix.T @ (f.slopes(self.z) / len(f)) + f.l2 * self.x)

    def newton(self, gradient: Array) -> Array:
        return hessian_step(self.f, self.f.bends(self.z), gradient)

    def search(self, direction: Array, slope: float) -> float:
        self.change = np.asarray(self.f.matrix @ direction)
        return super().search(direction, slope)

    def ahead(self, direction: Array, length: float) -> float:
        x = self.x - length * direction
        return float(self.f.losses(self.z - length * self.change).mean() + self.f.l2 / 2 * (x @ x))

    def move(self, direction: Array, length: float) -> None:
        super().move(direction, length)
        self.z = self.z - length * self.change


class _Dense(_Linear):
    """A linear model of a dense matrix, of which one reading gives everything at a point."""

    def __init__(self, f: LinearModel, x: Array, precision: Precision) -> None:
        AtPoint.__init__(self, f, x)
        self.f: LinearModel = f
        self.sweep = Sweep(f, precision)
        self.here = self.trial = self.sweep.at(self.x)
        self.value = self.here.value

    @property
    def predictions(self) -> Array | None:
        return self.here.predictions

    def gradient(self) -> Array:
        return self.here.gradient

    def newton(self, gradient: Array) -> Array:
        return self.sweep.step(self.here, gradient)

    def search(self, direction: Array, slope: float) -> float:
        # The full step will most likely do: so with its objective goes what the next step needs.
        self.trial = self.sweep.at(self.x - direction)
        self.z, self.change = self.here.predictions, self.here.predictions - self.trial.predictions
        return AtPoint.search(self, direction, slope)

    def ahead(self, direction: Array, length: float) -> float:
        return self.trial.value if length == 1.0 else super().ahead(direction, length)

    def move(self, direction: Array, length: float) -> None:
        super().move(direction, length)
        self.here = self.trial if length == 1.0 else self.sweep.at(self.x, self.z)


def at_point(f: Objective, x: Array, precision: Precision = "auto") -> AtPoint:
    """An objective at a point, in the form that is fastest for it."""
    if sweeps(f):
        return _Dense(f, x, precision)
    return _Linear(f, x) if isinstance(f, LinearModel) and is_plain(f) else AtPoint(f, x)
