"""What the trust region asks of a manifold and of an objective on it, under the names that pymanopt uses."""

from __future__ import annotations

from typing import Any, Protocol


class Manifold(Protocol):
    """What the trust region asks of a manifold."""

    @property
    def dim(self) -> int:
        """Its dimension."""

    def inner_product(self, point: Any, a: Any, b: Any, /) -> float:
        """The metric at a point."""

    def norm(self, point: Any, v: Any, /) -> float:
        """Length in the metric."""

    def zero_vector(self, point: Any, /) -> Any:
        """The tangent vector that does not move."""

    def to_tangent_space(self, point: Any, v: Any, /) -> Any:
        """A tangent vector freed from rounding."""

    def retraction(self, point: Any, v: Any, /) -> Any:
        """The point reached from `point` along `v`."""

    def euclidean_to_riemannian_gradient(self, point: Any, gradient: Any, /) -> Any:
        """The gradient in the metric from the derivatives."""

    def euclidean_to_riemannian_hessian(self, point: Any, gradient: Any, product: Any, v: Any, /) -> Any:
        """The Hessian in the metric, applied to `v`, from the derivatives and their change along `v`."""


class ManifoldObjective(Protocol):
    """An objective in the terms of a manifold's points, with derivatives in the ambient space.

    It may have a `rough_hessian_product`, to about six digits.
    """

    def value(self, point: Any, /) -> float:
        """The objective."""

    def gradient(self, point: Any, /) -> Any:
        """Its derivatives."""

    def hessian_product(self, point: Any, v: Any, /) -> Any:
        """How the derivatives change along a tangent vector."""
