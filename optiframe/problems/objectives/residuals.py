"""Objectives from a Python function of residuals: nonlinear least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.from_function import from_function
from optiframe.problems.objectives.objective import FromFunction, NotFollowed, Objective
from optiframe.records.fields import Array


class FromResiduals(FromFunction):
    """Half the sum of squares of a Python function's residuals; build it with `from_residuals`.

    The function's derivatives come from autograd unless its Jacobian (`given_gradient`) is given. Where
    autograd cannot follow it, methods of least squares take differences.
    """

    def value(self, x: Array) -> float:
        residuals = self.residuals(x)
        return float(residuals @ residuals) / 2

    def residuals(self, x: Array) -> Array:
        values = np.asarray(self.function(np.asarray(x)))
        if values.ndim != 1 or values.dtype.kind not in "fiu":
            raise InvalidInput(
                f"{self._title} must return a vector of real numbers, got {values.dtype} of shape "
                f"{values.shape}"
            )
        return values.astype(np.float64)

    def jacobian(self, x: Array) -> Array:
        if self.given_gradient is None:
            return self._derived_gradient(x)
        return self._fitting(np.array(self.given_gradient(np.asarray(x)), dtype=np.float64), x)

    def gradient(self, x: Array) -> Array:
        return np.asarray(self.jacobian(x).T @ self.residuals(x)).reshape(self.shape)

    def hessian_product(self, x: Array, v: Array) -> Array:
        raise self._lacks("Hessian product")

    def offers(self, operation: Callable[..., Any]) -> bool:
        if operation.__name__ in ("hessian_product", "value_and_gradient"):
            return False
        if operation.__name__ in ("gradient", "jacobian"):
            return self._not_followed is None
        return getattr(type(self), operation.__name__) is not getattr(Objective, operation.__name__)

    def _derived_gradient(self, x: Array) -> Array:
        """The Jacobian: what its base takes for derivatives of a number are those of the vector here."""
        point = np.array(x, dtype=np.float64)
        rows = len(self.residuals(point))
        try:
            found = self._differentiate(
                lambda autograd, at: autograd.jacobian(self.function)(at), self.residuals, point
            )
        except NotFollowed:
            raise
        except Exception:
            self.residuals(point)
            raise
        if found.shape == self.shape and found.size != rows * point.size and not found.any():
            found = np.zeros((rows, point.size))  # constant residuals
        return self._fitting(found.reshape(rows, -1), point)

    def _fitting(self, jacobian: Array, x: Array) -> Array:
        wanted = (len(self.residuals(x)), x.size)
        if jacobian.shape != wanted:
            raise InvalidInput(
                f"the jacobian given for {self._title} has shape {jacobian.shape}; it must be {wanted}, "
                "residuals by entries of the flattened point"
            )
        return jacobian

    @property
    def _title(self) -> str:
        return f"the function {getattr(self.function, '__name__', type(self.function).__name__)!r}"


def from_residuals(
    f: Callable[[Any], Any],
    shape: int | tuple[int, ...],
    jacobian: Callable[[Any], Any] | None = None,
) -> FromResiduals:
    """An objective of least squares from a Python function: half the sum of the squares of ``f(x)``.

    Parameters
    ----------
    f
        Takes a point (an array of `shape`), returns the residuals, a vector. For derivatives by autograd
        it is written with ``autograd.numpy`` in place of ``numpy``.
    shape
        Shape of a point; a whole number for vectors.
    jacobian
        ``jacobian(x)``, a matrix of residuals by entries of the flattened point; autograd otherwise.

    Raises
    ------
    InvalidInput
        At once when `f` is not a function or `shape` no shape; on use when `f` does not return a vector,
        or the Jacobian has another shape.
    """
    if jacobian is not None and not callable(jacobian):
        raise InvalidInput(f"jacobian must be a function, got {jacobian!r:.40}")
    checked = from_function(f, shape)
    return FromResiduals(function=checked.function, point_shape=checked.point_shape, given_gradient=jacobian)
