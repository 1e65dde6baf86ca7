"""Objectives: functions to minimize, with as many derivatives as they have.

The ready-made losses of linear models are in `optiframe.problems.objectives.losses`.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, NonNegativeInt
from scipy.sparse import eye_array

from optiframe.errors import InvalidInput, Unsuited, require
from optiframe.records.fields import AnyArray, Array
from optiframe.records.record import Record

_INDEPENDENT = "Output seems independent of input"  # how autograd's warning begins


@dataclass(frozen=True)
class Quadratic:
    """The polynomial ``x' matrix x / 2 + linear' x + constant``.

    `matrix` is dense, sparse or a linear operator of SciPy's, and None where it is zero.
    """

    matrix: Any
    linear: Array
    constant: float


class Objective(Record):
    """A real function of a point; a frozen record whose fields are its data.

    A subclass gives `name`, `shape` and `value`, and whichever of the other operations it
    has. A solver asks `offers(Objective.gradient)` before it relies on one. Arguments are
    never changed; results are new arrays. `point_type` says what a point is, where it is
    not an array; gradients and directions are then of that type too. `convex` says that the function is
    known to be convex, so that a bound on the least value can be trusted.
    """

    convex: ClassVar[bool] = False
    point_type: ClassVar[type] = np.ndarray

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of a point."""

    @abstractmethod
    def value(self, x: Any) -> float:
        """The objective at `x`."""

    def gradient(self, x: Any) -> Any:
        """Gradient at `x`, of the point's shape."""
        raise self._lacks("gradient")

    def value_and_gradient(self, x: Any) -> tuple[float, Any]:
        """Both at `x`, where that is cheaper than one after the other; counted as a value and a gradient."""
        raise self._lacks("value and gradient in one")

    def hessian_product(self, x: Any, v: Any) -> Any:
        """Hessian at `x` applied to the direction `v`, of the point's shape."""
        raise self._lacks("Hessian product")

    def hessian(self, x: Any) -> Array:
        """Hessian at `x` as a matrix over the flattened point."""
        raise self._lacks("Hessian matrix")

    def curvature(self) -> float:
        """An upper bound on the largest Hessian eigenvalue anywhere (the gradient's Lipschitz constant)."""
        raise self._lacks("curvature bound")

    def residuals(self, x: Any) -> Array:
        """A vector at `x` whose half squared norm is the value, for methods of least squares."""
        raise self._lacks("residuals")

    def jacobian(self, x: Any) -> Any:
        """Derivatives of the residuals at `x`: a matrix, dense or sparse, over the flattened point."""
        raise self._lacks("Jacobian of residuals")

    def quadratic(self) -> Quadratic:
        """The value as a polynomial of degree two of the flattened point, the same at every point."""
        raise self._lacks("quadratic form")

    def conjugate(self, y: Any) -> float:
        """The largest ``<y, x> - value(x)`` over all x; infinite where there is no largest."""
        raise self._lacks("conjugate")

    def as_cvxpy(self, x: Any) -> Any:
        """The objective as a CVXPY expression of `x`; None where it is not convex."""
        return None

    def offers(self, operation: Callable[..., Any]) -> bool:
        """Whether this objective has the operation: ``objective.offers(Objective.gradient)``."""
        mine = getattr(type(self), operation.__name__)
        return mine is not getattr(Objective, operation.__name__)

    def lacks(self, *operations: Callable[..., Any]) -> str | None:
        """The operations of these that it has not, in words for `Solver.unsuited`; None when it has all."""
        missing = [
            operation.__name__.replace("_", " ") for operation in operations if not self.offers(operation)
        ]
        return f"the objective {self.known_as!r} has no {' and no '.join(missing)}" if missing else None

    def _lacks(self, what: str) -> Unsuited:
        return Unsuited(f"the objective {self.known_as!r} has no {what}")

    @property
    def known_as(self) -> str:
        """What messages call it: by its name, or else that of its class."""
        return self.name or type(self).__name__


class FiniteSum(Objective):
    """The mean of many terms plus a regularizer; both survive `take`."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of terms."""

    @abstractmethod
    def take(self, indices: Any) -> FiniteSum:
        """The same objective over the chosen terms only: their mean plus the same regularizer."""


class SquaredDistance(Objective):
    """Half the squared Euclidean distance to a point."""

    name = "squared-distance"
    convex = True

    to: AnyArray = Field(description="the point to be near to")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.to.shape

    def value(self, x: Array) -> float:
        return float(np.sum((x - self.to) ** 2) / 2)

    def gradient(self, x: Array) -> Array:
        return x - self.to

    def hessian_product(self, x: Array, v: Array) -> Array:
        return np.array(v, dtype=np.float64)

    def hessian(self, x: Array) -> Array:
        return np.eye(self.to.size)

    def curvature(self) -> float:
        return 1.0

    def residuals(self, x: Array) -> Array:
        return np.asarray(x - self.to).reshape(-1)

    def jacobian(self, x: Array) -> Any:
        return eye_array(self.to.size, format="csr")

    def quadratic(self) -> Quadratic:
        flat = self.to.reshape(-1)
        return Quadratic(eye_array(flat.size, format="csr"), -flat, float(flat @ flat) / 2)

    def conjugate(self, y: Array) -> float:
        return float(np.sum(y * y) / 2 + np.vdot(y, self.to))

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        return cp.sum_squares(x - self.to) / 2


class NotFollowed(InvalidInput):
    """Autograd cannot differentiate a function."""


class FromFunction(Objective):
    """A Python function of a point, differentiated by autograd unless derivatives are given.

    Build it with `from_function`. It is pickled and hashed by the names of its functions,
    so for use in other processes they must be importable (no lambdas). It has no name to
    be chosen by: in a file, ``name = "function"`` takes one of a module given by ``--import``.
    """

    function: Callable[[Any], Any] = Field(description="the value at a point, written with autograd.numpy")
    point_shape: tuple[NonNegativeInt, ...] = Field(description="shape of a point")
    given_gradient: Callable[[Any], Any] | None = Field(default=None, description="gradient at a point")
    given_hessian_product: Callable[[Any, Any], Any] | None = Field(
        default=None, description="Hessian at a point, applied to a direction"
    )

    @property
    def known_as(self) -> str:
        """What messages call it: by the name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __repr__(self) -> str:
        return f"<{title_of(self.function)} of points of shape {self.point_shape}>"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.point_shape

    def value(self, x: Array) -> float:
        value = self.function(x)
        if isinstance(value, float):  # NumPy's, too; asking arrays takes a microsecond
            return float(value)
        return self._number(value)

    def _number(self, value: Any) -> float:
        number = np.asarray(value)
        if number.shape != () or number.dtype.kind not in "fiu":
            got = f"an array of shape {number.shape}" if number.shape else type(value).__name__
            raise InvalidInput(f"{title_of(self.function)} must return one real number, got {got}")
        return float(number)

    def gradient(self, x: Array) -> Array:
        if self.given_gradient is not None:
            return self._shaped(self.given_gradient(x), "gradient")
        return self._derived_gradient(x)

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        found: list[Any] = []

        def derive(autograd: Any, at: Array) -> Any:
            value, slope = autograd.value_and_grad(self.function)(at)
            found.append(value)
            return slope

        gradient = self._differentiate(derive, self.value, x)
        return self._number(found[0]) if found else self.value(x), gradient

    def hessian_product(self, x: Array, v: Array) -> Array:
        if self.given_hessian_product is not None:
            return self._shaped(self.given_hessian_product(x, v), "Hessian product")
        if "_followed" not in self.__dict__:
            # Where autograd cannot follow, the gradient fails but the nested trace below may
            # just lose terms; hence the gradient first, once.
            self._derived_gradient(x)
            self.__dict__["_followed"] = True
        return self._differentiate(
            lambda autograd, at: autograd.hessian_vector_product(self.function)(at, v),
            self._derived_gradient,
            x,
        )

    def offers(self, operation: Callable[..., Any]) -> bool:
        if operation.__name__ == "value_and_gradient" and self.given_gradient is not None:
            return False
        derived = ("gradient", "value_and_gradient", "hessian_product")
        if operation.__name__ in derived and self.given_gradient is None:
            return self._not_followed is None
        if operation.__name__ == "hessian_product" and self.given_gradient is not None:
            # Whoever gives a gradient may have written the function with plain NumPy.
            return self.given_hessian_product is not None or self._traceable
        return super().offers(operation)

    def lacks(self, *operations: Callable[..., Any]) -> str | None:
        missing = super().lacks(*operations)
        return (missing and self._not_followed) or missing

    @cached_property
    def _not_followed(self) -> str | None:
        """Why autograd cannot follow the function, as far as one point tells; None where it can."""
        if self.given_gradient is not None:
            return None
        point = np.random.default_rng(0).standard_normal(self.shape)
        try:
            with np.errstate(all="ignore"):  # the point may be outside the function's domain
                self._derived_gradient(point)
        except NotFollowed as error:
            return str(error)
        except Exception:  # of the function itself, or a package that is missing: said on use
            return None
        return None

    @cached_property
    def _traceable(self) -> bool:
        """Whether autograd can follow the function, tried at one point."""
        point = np.random.default_rng(0).standard_normal(self.shape)
        try:
            with np.errstate(all="ignore"):  # the point may be outside the function's domain
                self.hessian_product(point, point)
        except Exception:  # a function of the user's may raise anything; any of it means no
            return False
        return True

    def _shaped(self, result: Any, what: str) -> Array:
        shape = result.shape if type(result) is np.ndarray else np.shape(result)
        if shape != self.point_shape:
            raise InvalidInput(
                f"the {what} given for {title_of(self.function)} has shape {np.shape(result)}; "
                f"the point has {self.shape}"
            )
        return np.array(result, dtype=np.float64)

    def _derived_gradient(self, x: Array) -> Array:
        return self._differentiate(lambda autograd, at: autograd.grad(self.function)(at), self.value, x)

    def _differentiate(
        self, derive: Callable[[Any, Array], Any], derived: Callable[[Array], Any], x: Array
    ) -> Array:
        """`derive` at `x`; `derived` is what it is the derivative of."""
        autograd = require("autograd", "autodiff")
        point = np.array(x, dtype=np.float64)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", _INDEPENDENT)
                return np.array(derive(autograd, point), dtype=np.float64)
        except UserWarning as warning:
            if not str(warning).startswith(_INDEPENDENT):
                raise
            # Either constant, so that the derivative is zero, or autograd lost the thread.
            near = point + 1e-6 * np.maximum(1.0, np.abs(point))
            if np.array_equal(derived(near), derived(point), equal_nan=True):
                return np.zeros(self.shape)
            raise self._cannot_follow(warning, "autograd", "autograd.numpy") from warning
        except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
            self.value(point)  # a function that fails by itself says so in its own words
            raise self._cannot_follow(error, "autograd", "autograd.numpy") from error

    def _cannot_follow(self, why: object, engine: str, module: str) -> NotFollowed:
        return NotFollowed(
            f"{engine} cannot follow {title_of(self.function)} ({why}); write it with {module} "
            "in place of numpy, without assigning into arrays, give its gradient, or ask for "
            'derivatives="differences"'
        )


def title_of(function: Callable[..., Any]) -> str:
    """What messages call a function that a user gave."""
    return f"the function {getattr(function, '__name__', type(function).__name__)!r}"
