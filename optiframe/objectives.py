"""Objectives: functions to minimize, with as many derivatives as they have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from pydantic import Field

from optiframe.described import Described
from optiframe.errors import Unsuited
from optiframe.values import AnyArray, Array


class Objective(Described):
    """A real function of a point; a frozen record whose fields are its data.

    A subclass gives `name`, `shape` and `value`, and whichever of the other operations it
    has. A solver asks `offers(Objective.gradient)` before it relies on one. Arguments are
    never changed; results are new arrays.
    """

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

    def hessian_product(self, x: Any, v: Any) -> Any:
        """Hessian at `x` applied to the direction `v`, of the point's shape."""
        raise self._lacks("Hessian product")

    def hessian(self, x: Any) -> Array:
        """Hessian at `x` as a matrix over the flattened point."""
        raise self._lacks("Hessian matrix")

    def curvature(self) -> float:
        """An upper bound on the largest Hessian eigenvalue anywhere (the Lipschitz constant of the gradient)."""
        raise self._lacks("curvature bound")

    def as_cvxpy(self, x: Any) -> Any:
        """The objective as a CVXPY expression of `x`; None where it is not convex."""
        return None

    def offers(self, operation: Callable[..., Any]) -> bool:
        """Whether this objective has the operation: ``objective.offers(Objective.gradient)``."""
        mine = getattr(type(self), operation.__name__)
        return mine is not getattr(Objective, operation.__name__)

    def _lacks(self, what: str) -> Unsuited:
        return Unsuited(f"the objective {self.name or type(self).__name__!r} has no {what}")


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

    def as_cvxpy(self, x: Any) -> Any:
        import cvxpy as cp

        return cp.sum_squares(x - self.to) / 2
