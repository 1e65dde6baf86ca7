"""Symmetric matrices x x', by the vector x."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.problems.sets.constraint_set import ConstraintSet, WholeSpace
from optiframe.problems.sets.vector_sets import Box
from optiframe.records.fields import Array


class PositiveRankOne(ConstraintSet):
    """Symmetric positive semidefinite matrices of rank one, x x', each by its vector x.

    A point is the vector, so that every vector is in the set; x and -x stand for the same
    matrix.
    """

    name = "positive-rank-one"
    convex = False

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 1:
            raise InvalidInput(f"a matrix x x' is given by a vector x; the objective takes {shape}")

    def project(self, v: Array) -> Array:
        return np.array(v, dtype=np.float64)


@dataclass(frozen=True)
class Vectors:
    """The geometry of x x' by x: that of the space of x itself, in which x and -x are one point.

    Leaving out X = 0, the map from x to x x' keeps lengths between the Euclidean metric here and
    the Bures-Wasserstein metric there; with rank one no movement of x leaves X where it is, so
    that nothing has to be projected. The same holds for any objective that is not bounded to a
    set, which is why arrays of any shape will do.

    Parameters
    ----------
    size
        Number of entries.
    typical_dist
        Size of the vectors that are looked at.
    """

    size: int
    typical_dist: float = 1.0

    @property
    def dim(self) -> int:
        """Dimension of the space."""
        return self.size

    def inner_product(self, point: Array, a: Array, b: Array) -> float:
        """The Euclidean one."""
        return float(np.vdot(a, b))

    def norm(self, point: Array, v: Array) -> float:
        """The Euclidean one."""
        return float(np.linalg.norm(v))

    def zero_vector(self, point: Array) -> Array:
        """No movement."""
        return np.zeros_like(point)

    def to_tangent_space(self, point: Array, v: Array) -> Array:
        """Every vector is tangent."""
        return v

    def retraction(self, point: Array, v: Array) -> Array:
        """x + v."""
        return np.asarray(point + v)

    def euclidean_to_riemannian_gradient(self, point: Array, gradient: Array) -> Array:
        """The same."""
        return gradient

    def euclidean_to_riemannian_hessian(
        self, point: Array, gradient: Array, product: Array, v: Array
    ) -> Array:
        """The same."""
        return product


def holds_all_vectors(over: ConstraintSet) -> bool:
    """Whether a set of arrays leaves every point free: no constraint, or a box without bounds."""
    if isinstance(over, Box):
        return bool(np.all(over.lower == -np.inf) and np.all(over.upper == np.inf))
    return isinstance(over, WholeSpace | PositiveRankOne)
