"""The objective of rank-one completion, of a matrix's entries or of labels."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array, Matrix
from optiframe_rankone.completion.pairs import EntryPairs, Pairs, of_entries


class PairwiseLeastSquares(Objective):
    """Weighted squared distance of x x' to known pairs, whichever way the pairs are kept.

    All it needs is the operator `pairs`; `known` and `targets` are the same pairs as
    matrices, for methods that look at them one by one.
    """

    @property
    @abstractmethod
    def pairs(self) -> Pairs:
        """Products with the pairs."""

    @property
    @abstractmethod
    def known(self) -> sp.csr_array:
        """Weights off the diagonal, N; entries that are zero left out."""

    @property
    @abstractmethod
    def targets(self) -> sp.csr_array:
        """Values C on the pattern of `known`."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.pairs.size,)

    def value(self, x: Array) -> float:
        return self.pairs.cost(x)

    def gradient(self, x: Array) -> Array:
        pull, curvature = self.pairs.pulls(x)
        return np.asarray(curvature * x - pull)

    def hessian_product(self, x: Array, v: Array) -> Array:
        weights, products = self.pairs.weights, self.pairs.products
        return np.asarray(weights(x * x) * v - products(v) + 2.0 * x * weights(x * v))


class RankOneLeastSquares(PairwiseLeastSquares):
    """Weighted squared distance of x x' to the known entries of a symmetric matrix.

    With weights N and values C, both symmetric, the sum runs over unordered pairs of
    different indices (each edge of the graph once)::

        L(x) = 1/2 sum_{i<j} N_ij (C_ij - x_i x_j)^2,

    so that dL/dx_i = -sum_j N_ij (C_ij - x_i x_j) x_j is exactly the step of Sec. 4.1;
    Lemma 6's sum over E is read so. Not convex; x and -x are equally good, and 0 is
    stationary. The diagonal is never looked at, nor values where the weight is zero.

    Memory is 40 bytes for each stored entry of the weights, and 16 bytes for every entry
    where a third of them or more is known (dense products are faster there).
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
        return _off_diagonal(self.weights)

    @cached_property
    def targets(self) -> sp.csr_array:
        return _on_pattern(self.values, self.known)

    @cached_property
    def pairs(self) -> EntryPairs:
        return of_entries(self.known, self.targets)

    def _entry(self, position: int) -> tuple[int, int]:
        row = int(np.searchsorted(self.known.indptr, position, side="right")) - 1
        return row, int(self.known.indices[position])


def _off_diagonal(matrix: Any) -> sp.csr_array:
    if sp.issparse(matrix) and matrix.has_sorted_indices and matrix.data.all() and not _has_diagonal(matrix):
        return matrix  # as it is
    entries = sp.coo_array(matrix)
    rows, columns = entries.coords
    keep = (rows != columns) & (entries.data != 0)
    result = sp.csr_array((entries.data[keep], (rows[keep], columns[keep])), shape=matrix.shape)
    result.sort_indices()
    return result


def _has_diagonal(matrix: sp.csr_array) -> bool:
    return bool((matrix.indices == _rows(matrix)).any())


def _rows(matrix: sp.csr_array) -> NDArray[np.int32]:
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))


def _on_pattern(matrix: Any, pattern: sp.csr_array) -> sp.csr_array:
    if sp.issparse(matrix) and matrix.nnz == pattern.nnz and _same_pattern(matrix, pattern):
        data = matrix.data
    elif pattern.nnz == 0:
        data = np.zeros(0)  # SciPy answers an empty selection by a sparse array
    else:
        data = np.asarray(matrix[_rows(pattern), pattern.indices]).ravel()
    return sp.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)


def _same_pattern(first: Any, second: sp.csr_array) -> bool:
    return np.array_equal(first.indptr, second.indptr) and np.array_equal(first.indices, second.indices)


def _asymmetry(matrix: sp.csr_array) -> tuple[int, int]:
    """The first entry that differs from its mirror by more than rounding; (-1, -1) when none does."""
    scale = float(np.abs(matrix.data).max()) if matrix.nnz else 0.0
    slack = 1e-9 * scale  # what a decimal file may lose
    mirror = sp.csr_array(matrix.T)
    if _same_pattern(matrix, mirror) and (np.abs(matrix.data - mirror.data) <= slack).all():
        return -1, -1
    gap = sp.coo_array(matrix - mirror)
    rows, columns = gap.coords
    wrong = np.flatnonzero(np.abs(gap.data) > slack)
    return (int(rows[wrong[0]]), int(columns[wrong[0]])) if len(wrong) else (-1, -1)
