"""Matrices with orthonormal columns, what they span, and rotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_manifold.sets.manifold_set import (
    ManifoldSet,
    QuotientSet,
    check_matrix,
    check_square,
    manifolds,
)


class Stiefel(ManifoldSet):
    """Matrices with orthonormal columns, X'X = I.

    The projection is the orthogonal factor of the polar decomposition: one thin SVD, O(n p^2). Where the
    matrix has not full rank there are several nearest points, and it gives one of them.
    """

    name = "stiefel"
    reference = "Edelman, Arias and Smith 1998; Fan and Hoffman 1955 (the nearest point)"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        check_matrix(self, shape, tall=True)

    def project(self, v: Array) -> Array:
        return _polar_factor(self, v)

    def dimension(self, shape: tuple[int, ...]) -> int:
        return shape[0] * shape[1] - shape[1] * (shape[1] + 1) // 2

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return manifolds().Stiefel(*shape)


class Grassmann(QuotientSet):
    """Subspaces of dimension p, each by a matrix (n x p) whose orthonormal columns span it.

    The objective must have the same value for every basis of a subspace; take `stiefel` where the columns
    themselves matter. The projection is that of `stiefel`.
    """

    name = "grassmann"
    unrotated = "stiefel"
    reference = "Edelman, Arias and Smith 1998"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        check_matrix(self, shape, tall=True)

    def project(self, v: Array) -> Array:
        return _polar_factor(self, v)

    def dimension(self, shape: tuple[int, ...]) -> int:
        return shape[1] * (shape[0] - shape[1])

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return manifolds().Grassmann(*shape)


class Rotations(ManifoldSet):
    """Orthogonal matrices of determinant one, X'X = I.

    The projection is an SVD whose last direction is turned over where the determinant would be negative.
    """

    name = "rotations"
    ambient = False
    reference = "Kabsch 1976; Umeyama 1991 (the nearest point)"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        check_square(self, shape)

    def project(self, v: Array) -> Array:
        left, right = _svd(self, v)
        if np.linalg.det(left) * np.linalg.det(right) < 0:
            left[:, -1] *= -1.0
        return np.asarray(left @ right)

    def dimension(self, shape: tuple[int, ...]) -> int:
        return shape[0] * (shape[0] - 1) // 2

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return manifolds().SpecialOrthogonalGroup(shape[0])


def _polar_factor(over: ManifoldSet, v: Array) -> Array:
    """The nearest matrix with orthonormal columns."""
    left, right = _svd(over, v)
    return np.asarray(left @ right)


def _svd(over: ManifoldSet, v: Array) -> tuple[Array, Array]:
    """The singular vectors of a matrix, those of the largest singular value first."""
    v = np.asarray(v, dtype=np.float64)
    if not np.isfinite(v).all():
        raise InvalidInput(
            f"a matrix with entries that are not finite has no nearest one in the set {over.name!r}"
        )
    left, _, right = np.linalg.svd(v, full_matrices=False)
    return left, right
