"""Arrays, columns or rows of length one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_manifold.sets.gram_factors import elliptope
from optiframe_manifold.sets.manifold_set import ManifoldSet, QuotientSet, check_matrix, manifolds


class Sphere(ManifoldSet):
    """Arrays whose entries have the sum of squares one.

    The projection divides by the norm; the origin goes to the first axis.
    """

    name = "sphere"
    reference = "Absil, Mahony and Sepulchre 2008, Section 3.5.1"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if not shape or not all(shape):
            raise InvalidInput(f"the sphere holds arrays with entries, and a point has the shape {shape}")

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        return _of_length_one(v.reshape(-1, 1)).reshape(v.shape)

    def dimension(self, shape: tuple[int, ...]) -> int:
        return math.prod(shape) - 1

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return manifolds().Sphere(*shape)


class Oblique(ManifoldSet):
    """Matrices whose columns have length one.

    The projection divides each column by its norm; a column of zeros goes to the first axis.
    """

    name = "oblique"
    reference = "Absil and Gallivan 2006, Joint diagonalization on the oblique manifold"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        check_matrix(self, shape)

    def project(self, v: Array) -> Array:
        return _of_length_one(np.asarray(v, dtype=np.float64))

    def dimension(self, shape: tuple[int, ...]) -> int:
        return (shape[0] - 1) * shape[1]

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return manifolds().Oblique(*shape)


class Elliptope(QuotientSet):
    """Correlation matrices of rank at most k, X = Y Y', each by its factor Y (n x k) with rows of length one.

    A point is the factor, so the objective is a function of Y that depends on Y Y' only; memory is 8 n k
    bytes. The projection is that of factors: it divides each row by its norm.
    """

    name = "elliptope"
    unrotated = "oblique"
    reference = "Journee, Bach, Absil and Sepulchre 2010; Burer and Monteiro 2003"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        check_matrix(self, shape, tall=True)

    def project(self, v: Array) -> Array:
        return np.ascontiguousarray(_of_length_one(np.asarray(v, dtype=np.float64).T).T)

    def dimension(self, shape: tuple[int, ...]) -> int:
        return shape[0] * (shape[1] - 1) - shape[1] * (shape[1] - 1) // 2

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return elliptope(*shape)


def _of_length_one(columns: Array) -> Array:
    """Columns divided by their norms; those of zeros become the first axis."""
    largest = np.abs(columns).max(axis=0)
    scaled = columns / np.where(largest > 0, largest, 1.0)  # so that squares neither overflow nor vanish
    scaled[0, largest == 0] = 1.0
    return np.asarray(scaled / np.linalg.norm(scaled, axis=0))
