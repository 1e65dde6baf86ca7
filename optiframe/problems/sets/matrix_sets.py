"""Cones and balls of vectors and matrices whose projections are decompositions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from pydantic import PositiveFloat, PositiveInt
from pydantic.fields import Field

from optiframe.errors import InvalidInput, require
from optiframe.problems.sets.constraint_set import ConstraintSet, ScipyConstraints
from optiframe.problems.sets.vector_sets import L1Ball
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


class NuclearBall(ConstraintSet):
    """Matrices whose singular values sum to at most a radius: the convex stand-in for low rank.

    The projection is a full SVD and a projection of the singular values onto the l1 ball:
    O(m n min(m, n)) time.
    """

    name = "nuclear-ball"
    reference = "Cai, Candes and Shen 2010; Duchi et al. 2008"

    radius: PositiveFloat = Field(description="greatest sum of the singular values")

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise InvalidInput(f"the nuclear norm is one of matrices, the point has shape {shape}")

    def project(self, v: Array) -> Array:
        if not np.isfinite(v).all():
            raise InvalidInput("a matrix with entries that are not finite has no nearest one in the ball")
        u, values, wt = np.linalg.svd(v, full_matrices=False)
        kept = L1Ball(radius=self.radius).project(values)
        # A point of the set stays bit for bit, so that its violation is 0.0.
        return np.array(v, dtype=np.float64) if np.array_equal(kept, values) else (u * kept) @ wt

    def farthest(self, d: Array) -> Array:
        u, _, wt = np.linalg.svd(d, full_matrices=False)
        return np.asarray(self.radius * np.outer(u[:, 0], wt[0]))

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [require("cvxpy", "reference").normNuc(x) <= self.radius]


class MatrixRank(ConstraintSet):
    """Matrices of at most a given rank, as arrays; the projection keeps the largest singular values.

    The set `rank` of the plugin `manifold` holds large ones, as pairs of factors.
    """

    name = "matrix-rank"
    reference = "Eckart and Young 1936"
    convex = False

    rank: PositiveInt = Field(description="greatest rank")

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise InvalidInput(f"rank is one of matrices, and a point has the shape {shape}")

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        u, values, wt = np.linalg.svd(v, full_matrices=False)
        tiny = np.finfo(np.float64).eps * max(v.shape, default=0) * float(np.max(values, initial=0.0))
        if not np.any(values[self.rank :] > tiny):
            return v.copy()
        return np.asarray((u[:, : self.rank] * values[: self.rank]) @ wt[: self.rank])


class Birkhoff(ConstraintSet):
    """Square matrices without negative entries whose rows and columns sum to one (doubly stochastic).

    Its corners are the permutations, so that the farthest point is an assignment. It has no projection:
    `gradient.frank-wolfe`, and `cvxpy` or `scipy.linprog` where those take the objective.
    """

    name = "birkhoff"
    reference = "Birkhoff 1946; Kuhn 1955"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
            raise InvalidInput(f"the set holds square matrices, and a point has the shape {shape}")

    def farthest(self, d: Array) -> Array:
        from scipy.optimize import linear_sum_assignment

        corner = np.zeros(np.shape(d))
        corner[linear_sum_assignment(d, maximize=True)] = 1.0
        return corner

    def inside(self, shape: tuple[int, ...]) -> Array:
        return np.full(shape, 1 / shape[0])

    def violation(self, x: Array) -> float:
        """The largest of what an entry lacks to zero, and a row or column to the sum of one."""
        if not np.isfinite(x).all():
            return math.inf
        sums = np.concatenate([x.sum(axis=0), x.sum(axis=1)])
        return max(0.0, float(-x.min()), float(np.abs(sums - 1).max()))

    def as_cvxpy(self, x: Any) -> list[Any]:
        cp = require("cvxpy", "reference")
        return [x >= 0, cp.sum(x, axis=0) == 1, cp.sum(x, axis=1) == 1]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        from scipy.optimize import Bounds, LinearConstraint

        n = shape[0]
        one, every = sp.csr_array(np.ones((1, n))), sp.eye_array(n)
        sums = sp.vstack([sp.kron(one, every), sp.kron(every, one)], format="csr")
        return ScipyConstraints(Bounds(0.0, np.inf), (LinearConstraint(sums, 1.0, 1.0),))
