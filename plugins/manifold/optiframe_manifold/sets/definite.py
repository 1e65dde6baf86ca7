"""Symmetric matrices with eigenvalues above zero, and such of low rank."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from optiframe.records.fields import Array
from optiframe_manifold.sets.gram_factors import psd_fixed_rank
from optiframe_manifold.sets.manifold_set import (
    ManifoldSet,
    QuotientSet,
    check_matrix,
    check_square,
    general_point,
    manifolds,
)


class PositiveDefinite(ManifoldSet):
    """Symmetric matrices whose eigenvalues are above zero, with the affine-invariant metric.

    The set is open, so that a matrix outside has no nearest point in it: there is no projection, and the
    violation is the distance to the set's closure. A singular matrix has the violation zero; a solver
    named `pymanopt.*` never reaches one. For closed constraints take `positive-semidefinite`.
    """

    name = "positive-definite"
    reference = "Bhatia 2007, Positive Definite Matrices, Chapter 6"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        check_square(self, shape)

    def inside(self, shape: tuple[int, ...]) -> Array:
        """The identity."""
        return np.eye(shape[0])

    def violation(self, x: Array) -> float:
        """Distance to the semidefinite matrices: of what is not symmetric, and of eigenvalues below zero."""
        x = np.asarray(x, dtype=np.float64)
        if not np.isfinite(x).all():
            return math.inf
        below = np.minimum(np.linalg.eigvalsh((x + x.T) / 2), 0.0)
        return math.hypot(float(np.linalg.norm(x - x.T)) / 2, float(np.linalg.norm(below)))

    def near(self, x: Array, v: Array) -> Array:
        return np.asarray(x + (v + v.T) / 2)

    def dimension(self, shape: tuple[int, ...]) -> int:
        return shape[0] * (shape[0] + 1) // 2

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return manifolds().SymmetricPositiveDefinite(shape[0])


class PsdFixedRank(QuotientSet):
    """Symmetric positive semidefinite matrices of rank k, X = Y Y', each by its factor Y (n x k).

    A point is the factor, so that every matrix n x k is in the set, and the objective is a function of Y that
    depends on Y Y' only. `positive-rank-one` is the case of one column.
    """

    name = "psd-fixed-rank"
    unrotated = "whole-space"
    reference = "Journee, Bach, Absil and Sepulchre 2010"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        check_matrix(self, shape, tall=True)

    def project(self, v: Array) -> Array:
        return np.array(v, dtype=np.float64)

    def inside(self, shape: tuple[int, ...]) -> Array:
        """Fixed normal entries: at zero every function of Y Y' is stationary."""
        return general_point(shape)

    def dimension(self, shape: tuple[int, ...]) -> int:
        return shape[0] * shape[1] - shape[1] * (shape[1] - 1) // 2

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return psd_fixed_rank(*shape)
