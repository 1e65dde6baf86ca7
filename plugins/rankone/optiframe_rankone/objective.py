"""The objective of rank-one completion."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput
from optiframe.objectives import Objective
from optiframe.values import Array, Matrix


class RankOneLeastSquares(Objective):
    """Weighted squared distance of x x' to the known entries of a symmetric matrix.

    With weights N and values C, both symmetric, the sum runs over unordered pairs of
    different indices (each edge of the graph once)::

        L(x) = 1/2 sum_{i<j} N_ij (C_ij - x_i x_j)^2,

    so that dL/dx_i = -sum_j N_ij (C_ij - x_i x_j) x_j is exactly the step of Sec. 4.1;
    Lemma 6's sum over E is read so. Not convex; x and -x are equally good, and 0 is
    stationary. The diagonal is never looked at, nor values where the weight is zero.

    Memory is 40 bytes for each stored entry of the weights.
    """

    name = "rank-one-least-squares"
    reference = "Ma et al., Lemma 6"

    weights: Matrix = Field(description="symmetric, at least 0; zero where an entry is not known")
    values: Matrix = Field(description="symmetric; only looked at where the weight is not zero")

    @model_validator(mode="after")
    def _symmetric(self) -> Self:
        shape = self.weights.shape
        if shape[0] != shape[1] or shape[0] == 0:
            raise InvalidInput(f"weights must be a square matrix, got {shape[0]} x {shape[1]}")
        if self.values.shape != shape:
            raise InvalidInput(
                f"weights are {shape[0]} x {shape[1]}, values {self.values.shape[0]} x {self.values.shape[1]}"
            )
        known = self.known
        if (known.data < 0).any():
            i, j = self._entry(int(np.flatnonzero(known.data < 0)[0]))
            raise InvalidInput(f"weights: entry [{i}, {j}] is {known[i, j]:g}; a weight is at least 0")
        for name, matrix in (("weights", known), ("values", self.targets)):
            i, j = _asymmetry(matrix)
            if i >= 0:
                raise InvalidInput(
                    f"{name} must be symmetric: entry [{i}, {j}] is {matrix[i, j]:g}, "
                    f"entry [{j}, {i}] is {matrix[j, i]:g}"
                )
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return (int(self.weights.shape[0]),)

    @cached_property
    def known(self) -> sp.csr_array:
        """Weights off the diagonal, N; entries that are zero left out."""
        return _off_diagonal(self.weights)

    @cached_property
    def targets(self) -> sp.csr_array:
        """Values C on the pattern of `known`."""
        return _on_pattern(self.values, self.known)

    @cached_property
    def weighted(self) -> sp.csr_array:
        """N_ij C_ij."""
        known = self.known
        return sp.csr_array((known.data * self.targets.data, known.indices, known.indptr), known.shape)

    @cached_property
    def rows(self) -> NDArray[np.integer[Any]]:
        """Row of each stored entry of `known`."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.known.indptr))

    def _entry(self, position: int) -> tuple[int, int]:
        row = int(np.searchsorted(self.known.indptr, position, side="right")) - 1
        return row, int(self.known.indices[position])

    def value(self, x: Array) -> float:
        misses = self.targets.data - x[self.rows] * x[self.known.indices]
        return float(np.dot(self.known.data, misses**2) / 4)  # each pair is stored twice

    def pulls(self, x: Array) -> tuple[Array, Array]:
        """sum_j N_ij C_ij x_j and sum_j N_ij x_j^2 for every i: the gradient is curvature * x - pull.

        The second is the curvature along coordinate i, and pull/curvature the value of
        x_i that is best while the others stay.
        """
        return self.weighted @ x, self.known @ (x * x)

    def gradient(self, x: Array) -> Array:
        pull, curvature = self.pulls(x)
        return np.asarray(curvature * x - pull)

    def hessian_product(self, x: Array, v: Array) -> Array:
        return np.asarray((self.known @ (x * x)) * v - self.weighted @ v + 2.0 * x * (self.known @ (x * v)))


def _off_diagonal(matrix: Any) -> sp.csr_array:
    entries = sp.coo_array(matrix)
    rows, columns = entries.coords
    keep = (rows != columns) & (entries.data != 0)
    result = sp.csr_array((entries.data[keep], (rows[keep], columns[keep])), shape=matrix.shape)
    result.sort_indices()
    return result


def _on_pattern(matrix: Any, pattern: sp.csr_array) -> sp.csr_array:
    if sp.issparse(matrix) and matrix.nnz == pattern.nnz and _same_pattern(matrix, pattern):
        data = matrix.data
    else:
        rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        data = np.asarray(matrix[rows, pattern.indices]).ravel()
    return sp.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)


def _same_pattern(first: Any, second: sp.csr_array) -> bool:
    return bool((first.indptr == second.indptr).all() and (first.indices == second.indices).all())


def _asymmetry(matrix: sp.csr_array) -> tuple[int, int]:
    """The first entry that differs from its mirror by more than rounding; (-1, -1) when none does."""
    gap = sp.coo_array(matrix - matrix.T)
    rows, columns = gap.coords
    scale = float(np.abs(matrix.data).max()) if matrix.nnz else 0.0
    wrong = np.flatnonzero(np.abs(gap.data) > 1e-9 * scale)  # what a decimal file may lose
    return (int(rows[wrong[0]]), int(columns[wrong[0]])) if len(wrong) else (-1, -1)
