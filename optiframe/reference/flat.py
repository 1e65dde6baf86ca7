"""SciPy's view of a `Minimize`: flat vectors in, derivatives computed once for each point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ScipyConstraints
from optiframe.records.fields import Array
from optiframe.solving.solver import Run


class Flat:
    """A `Minimize` over flattened points; remembers the last gradient.

    SciPy asks for the gradient at the point it then reports, so that a residual costs no
    further evaluation.
    """

    def __init__(self, problem: Minimize) -> None:
        self.objective = problem.function
        self.shape = problem.function.shape
        self.size = int(np.prod(self.shape))
        self._at: Array | None = None
        self._gradient: Array = np.empty(0)

    def point(self, flat: Array) -> Array:
        """A copy of `flat` in the point's shape."""
        return np.array(flat, dtype=np.float64).reshape(self.shape)

    def value(self, flat: Array) -> float:
        """The objective."""
        return float(self.objective.value(self.point(flat)))

    def value_before_gradient(self, flat: Array) -> float:
        """The objective at a point whose gradient is asked for next: both at once, where it offers that."""
        if self._remembers(flat) or not self._both:
            return self.value(flat)
        value, gradient = self.objective.value_and_gradient(self.point(flat))
        self._remember(flat, gradient)
        return float(value)

    def gradient(self, flat: Array) -> Array:
        """The gradient, flat."""
        if not self._remembers(flat):
            self._remember(flat, self.objective.gradient(self.point(flat)))
        return np.array(self._gradient)

    @cached_property
    def _both(self) -> bool:
        return self.objective.offers(Objective.value_and_gradient)

    def _remembers(self, flat: Array) -> bool:
        return self._at is not None and np.array_equal(self._at, flat)

    def _remember(self, flat: Array, gradient: Any) -> None:
        self._at = np.array(flat)
        self._gradient = np.array(gradient, dtype=np.float64).ravel()

    def hessian_product(self, flat: Array, direction: Array) -> Array:
        """The Hessian at `flat` applied to a flat direction."""
        product = self.objective.hessian_product(self.point(flat), self.point(direction))
        return np.asarray(product, dtype=np.float64).ravel()

    def hessian_matrix(self, flat: Array) -> Array:
        """The Hessian as a matrix: the objective's own, or else a product for each entry."""
        if self.objective.offers(Objective.hessian):
            return self.hessian(flat)
        columns = [self.hessian_product(flat, unit) for unit in np.eye(self.size)]
        return np.stack(columns, axis=1) if columns else np.zeros((0, 0))

    def hessian(self, flat: Array) -> Array:
        """The Hessian as a matrix."""
        return np.asarray(self.objective.hessian(self.point(flat)), dtype=np.float64)


def first_point(problem: Minimize, run: Run) -> Array:
    """The caller's start, else the problem's, as a flat copy.

    Raises
    ------
    InvalidInput
        When the start has another shape than the objective takes, or is not finite.
    """
    start = np.array(problem.initial() if run.start is None else run.start, dtype=np.float64)
    if start.shape != problem.function.shape:
        raise InvalidInput(f"start has shape {start.shape}, the objective takes {problem.function.shape}")
    if not np.isfinite(start).all():
        raise InvalidInput("every entry of start must be finite")
    return start.ravel()


@dataclass(frozen=True)
class FlatBox:
    """Bounds as two flat vectors."""

    lower: Array
    upper: Array

    @classmethod
    def of(cls, constraints: ScipyConstraints, size: int) -> FlatBox:
        """The bounds of `constraints`; infinite where there are none."""
        bounds = constraints.bounds
        lower, upper = (-np.inf, np.inf) if bounds is None else (bounds.lb, bounds.ub)
        return cls(
            np.broadcast_to(np.asarray(lower, dtype=np.float64), (size,)),
            np.broadcast_to(np.asarray(upper, dtype=np.float64), (size,)),
        )

    def optimality(self, x: Array, gradient: Array) -> float:
        """Infinity norm of the projected gradient x - P(x - gradient); 0.0 at a stationary point."""
        step = x - np.clip(x - gradient, self.lower, self.upper)
        return float(np.max(np.abs(step), initial=0.0))


def no_scipy_form(problem: Minimize) -> str:
    """A sentence for a set that SciPy cannot be told about."""
    return f"the set {problem.over.name!r} cannot be written as SciPy constraints"
