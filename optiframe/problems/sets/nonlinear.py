"""Constraints on functions of a point: lower <= c(x) <= upper, with derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.differences import central_differences
from optiframe.problems.objectives.residuals import FromResiduals, from_residuals
from optiframe.problems.sets.constraint_set import ConstraintSet, ScipyConstraints
from optiframe.records.fields import Accepts, Array, Bound, as_bound
from optiframe.registry.user_modules import imported_function

if TYPE_CHECKING:
    from scipy.optimize import NonlinearConstraint


def _as_function(value: Any) -> Any:
    return imported_function(value) if isinstance(value, str) else value


_Function = Annotated[
    Callable[[Any], Any],
    BeforeValidator(_as_function),
    Accepts("function; in a file module:name, whose module comes by --import"),
]


class Nonlinear(ConstraintSet):
    """Points at which a function of yours lies between bounds: lower <= c(x) <= upper.

    The function takes a point and returns a number or a vector. Its Jacobian is given (values by entries of
    the flattened point; of a number the gradient), or comes from autograd, or from differences: two values
    for each entry. The set has no projection: `scipy.trust-constr`, `scipy.slsqp` and `scipy.cobyla` take it.
    They begin at zeros unless a problem has a start.

    Raises
    ------
    InvalidInput
        When no bound is given or no number lies between them; on use, when the function returns neither.
    """

    name = "nonlinear"
    convex = False

    function: _Function = Field(description="of a point; returns a number or a vector")
    lower: Bound = Field(
        default_factory=lambda: as_bound(-np.inf), description="lower bounds on its values; default: none"
    )
    upper: Bound = Field(
        default_factory=lambda: as_bound(np.inf), description="upper bounds on its values; default: none"
    )
    jacobian: _Function | None = Field(default=None, description="derivatives; default: derived")
    derivatives: Literal["autograd", "differences"] = Field(
        default="autograd", description="where derivatives come from that are not given"
    )

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if np.isinf(self.lower).all() and np.isinf(self.upper).all():
            raise InvalidInput("give lower, upper or both: without a bound every point is in the set")
        if np.any(self.lower > self.upper):
            raise InvalidInput("no number lies between lower and upper")
        return self

    def violation(self, x: Array) -> float:
        """The largest excess over a bound, relative to the bound where that is above 1 in size."""
        return excess(_posed(self, np.shape(x)).residuals(x), self.lower, self.upper)

    def inside(self, shape: tuple[int, ...]) -> Array:
        """Zeros, which need not be in the set: nobody knows a point of it."""
        return np.zeros(shape)

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        posed = _posed(self, shape)

        def values(x: Array) -> Array:
            return posed.residuals(x.reshape(shape))

        def slopes(x: Array) -> Array:
            if self.derivatives == "differences" and self.jacobian is None:
                return central_differences(values, x)
            return posed.jacobian(x.reshape(shape))

        return ScipyConstraints(others=scipy_constraints(values, slopes, self.lower, self.upper))


def scipy_constraints(
    values: Callable[[Array], Array], slopes: Callable[[Array], Array], lower: Array, upper: Array
) -> tuple[NonlinearConstraint, ...]:
    """SciPy's constraints for values between bounds; equations apart, without which SciPy warns."""
    from scipy.optimize import NonlinearConstraint

    lower, upper = np.broadcast_arrays(lower, upper)
    equal = lower == upper
    if equal.all() or not equal.any():
        return (NonlinearConstraint(values, lower, upper, jac=slopes),)

    def of(rows: Any) -> NonlinearConstraint:
        return NonlinearConstraint(
            lambda x: values(x)[rows], lower[rows], upper[rows], jac=lambda x: slopes(x)[rows]
        )

    return of(equal), of(~equal)


def excess(values: Array, lower: Any, upper: Any) -> float:
    """The largest excess of values over their bounds, relative to the bound where that is above 1 in size."""
    if not np.isfinite(values).all():
        return math.inf
    below = (lower - values) / np.where(np.isfinite(lower), np.maximum(1, np.abs(lower)), 1)
    above = (values - upper) / np.where(np.isfinite(upper), np.maximum(1, np.abs(upper)), 1)
    return max(0.0, float(np.max(np.maximum(below, above), initial=0.0)))


@lru_cache(maxsize=8)
def _posed(over: Nonlinear, shape: tuple[int, ...]) -> FromResiduals:
    """The function at points of this shape, with its derivatives."""
    slopes = over.jacobian and _as_rows(over.jacobian, 2)
    return from_residuals(_as_rows(over.function, 1), shape, slopes)


def _as_rows(function: Callable[[Any], Any], dimensions: int) -> Callable[[Any], Any]:
    """The function with one number, or its gradient, as a vector or a matrix of one row."""

    @wraps(function)
    def rows(x: Any) -> Any:
        value = function(x)
        numeric = isinstance(value, int | float) or hasattr(value, "ndim")  # autograd's numbers have one
        if numeric and np.ndim(value) == dimensions - 1:
            return value * np.ones((1,) * dimensions)
        return value

    return rows
