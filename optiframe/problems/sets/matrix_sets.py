"""Cones and balls of vectors and matrices whose projections are decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveFloat
from pydantic.fields import Field

from optiframe.errors import InvalidInput, require
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array


class SecondOrderCone(ConstraintSet):
    """Vectors whose first entry is at least the Euclidean norm of the others."""

    name = "second-order-cone"
    reference = "Parikh and Boyd 2014, Section 6.3.2"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 1 or not shape[0]:
            raise InvalidInput(f"the second-order cone holds vectors, and a point has the shape {shape}")

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        scale = float(np.abs(v).max()) or 1.0  # so that squares neither overflow nor vanish
        size, first = scale * float(np.linalg.norm(v[1:] / scale)), float(v[0])
        if size <= first:
            return v.copy()
        if size <= -first:
            return np.zeros_like(v)
        share = (1 + first / size) / 2
        return np.concatenate([[share * size], share * v[1:]])

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [require("cvxpy", "reference").SOC(x[0], x[1:])]


class PositiveSemidefinite(ConstraintSet):
    """Symmetric matrices without negative eigenvalues."""

    name = "positive-semidefinite"
    reference = "Parikh and Boyd 2014, Section 6.3.3"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[0] != shape[1]:
            raise InvalidInput(f"the set holds square matrices, and a point has the shape {shape}")

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        sizes, vectors = np.linalg.eigh((v + v.T) / 2)
        if not sizes.size or sizes[0] >= 0:
            return np.asarray((v + v.T) / 2)
        return np.asarray((vectors * np.maximum(sizes, 0.0)) @ vectors.T)

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [x >> 0, x == x.T]


class SpectralBall(ConstraintSet):
    """Matrices whose largest singular value is at most a radius."""

    name = "spectral-ball"

    radius: PositiveFloat = Field(description="greatest singular value")

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise InvalidInput(f"the spectral ball holds matrices, and a point has the shape {shape}")

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        left, sizes, right = np.linalg.svd(v, full_matrices=False)
        if not sizes.size or sizes[0] <= self.radius:
            return v.copy()
        return np.asarray((left * np.minimum(sizes, self.radius)) @ right)

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [require("cvxpy", "reference").sigma_max(x) <= self.radius]
