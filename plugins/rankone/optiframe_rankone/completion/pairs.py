"""The known pairs of a symmetric matrix as an operator: what the solvers need of N and C.

Three implementations of one small interface: dense matrices and sparse matrices (here), and the labels
themselves, from which the products follow without any matrix of pairs (`label_pairs`). They give the same
numbers; which one is used is a matter of size (`of_entries` here, and `skill_model`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes, fixed_codes
from optiframe_rankone.kernels.pairs import misses, sweep, sweep_dense

_SMALL = 64  # up to this many rows a dense product takes a microsecond, calling a sparse one ten
_ROWS = 64  # of a dense matrix that stay in the processor's cache through a few operations
_FILLED = 3  # a dense product reads 8 bytes an entry, a sparse one 12 and gathers: even at a third


class Pairs(ABC):
    """Weights N and values C of pairs; both symmetric, the diagonal empty.

    `size` is the number of rows. Vectors have shape (size,) and are never changed.
    """

    size: int

    @abstractmethod
    def weights(self, x: Array) -> Array:
        """N x."""

    @abstractmethod
    def products(self, x: Array) -> Array:
        """(N * C) x, the product by entries."""

    def pulls(self, x: Array) -> tuple[Array, Array]:
        """(N * C) x and N x^2; in one pass where that is cheaper.

        The first is the pull and the second the curvature along each entry: the gradient of the least
        squares is curvature * x - pull, and pull/curvature is best for an entry while the others stay.
        """
        return self.products(x), self.weights(x * x)

    @cached_property
    def row_sums(self) -> tuple[Array, Array]:
        """Of N * C and of N."""
        return self.pulls(np.ones(self.size))

    @abstractmethod
    def absolute_sums(self) -> Array:
        """sum_j N_ij |C_ij| for each i, or an upper bound of it."""

    @abstractmethod
    def cost(self, x: Array) -> float:
        """The objective of rank-one completion at x."""

    @abstractmethod
    def sweep(self, x: Array, lower: Array, upper: Array) -> tuple[Array, float]:
        """Each entry in turn to its best value within the bounds; the result, and the largest move.

        Entries without curvature (nobody to compare with) stay where they are. Bounds have
        shape (size,).
        """

    @property
    @abstractmethod
    def component(self) -> NDArray[np.int64]:
        """Connected component of each row, shape (size,)."""

    @abstractmethod
    def block(self, members: NDArray[np.intp]) -> Array:
        """N * C for some rows and the same columns, dense; for few members."""


class EntryPairs(Pairs):
    """Pairs kept one by one: N and N * C as matrices, each row of which can be looked at."""

    @property
    @abstractmethod
    def weighted(self) -> Any:
        """N * C, the product by entries, shape (size, size)."""

    @property
    @abstractmethod
    def _known(self) -> Any:
        """N, shape (size, size)."""

    def weights(self, x: Array) -> Array:
        return np.asarray(self._known @ x)

    def products(self, x: Array) -> Array:
        return np.asarray(self.weighted @ x)

    def absolute_sums(self) -> Array:
        return np.asarray(abs(self.weighted).sum(axis=1), dtype=np.float64)

    @cached_property
    def component(self) -> NDArray[np.int64]:
        found = connected_components(sp.csr_array(self._known), directed=False)[1]
        return np.asarray(found, dtype=np.int64)


class SparsePairs(EntryPairs):
    """Sparse matrices; memory is 40 bytes for each stored entry, time linear in the entries.

    Parameters
    ----------
    known, targets
        N and C as matrices of one pattern, shape (size, size), sorted indices, nothing on
        the diagonal.
    """

    def __init__(self, known: sp.csr_array, targets: sp.csr_array) -> None:
        self.size = int(known.shape[0])
        self.known, self.targets = known, targets

    @property
    def _known(self) -> sp.csr_array:
        return self.known

    @cached_property
    def weighted(self) -> sp.csr_array:
        """N_ij C_ij, on the same pattern."""
        known = self.known
        return sp.csr_array((known.data * self.targets.data, known.indices, known.indptr), known.shape)

    @property
    def _pattern(self) -> tuple[Codes, Codes]:
        """Where rows begin, and the columns of the entries, as codes of 32 bits."""
        return fixed_codes(self.known.indptr), fixed_codes(self.known.indices)

    def cost(self, x: Array) -> float:
        values = (_numbers(each) for each in (self.known.data, self.targets.data, x))
        return misses(*self._pattern, *values) / 4  # each pair is stored twice

    def sweep(self, x: Array, lower: Array, upper: Array) -> tuple[Array, float]:
        x = _numbers(x).copy()
        known = _numbers(self.known.data), _numbers(self.weighted.data)
        return x, sweep(*self._pattern, *known, x, _numbers(lower), _numbers(upper))

    def block(self, members: NDArray[np.intp]) -> Array:
        return np.asarray(self.weighted[members][:, members].toarray())


class DensePairs(EntryPairs):
    """Dense matrices; 24 bytes for each of size^2 entries.

    Parameters
    ----------
    known, targets
        N and C, shape (size, size), zero on the diagonal; C is looked at where N is not zero.
    """

    def __init__(self, known: Array, targets: Array) -> None:
        self.size = len(known)
        self.known, self.targets = known, targets

    @property
    def _known(self) -> Array:
        return self.known

    @cached_property
    def weighted(self) -> Array:
        return self.known * self.targets

    def cost(self, x: Array) -> float:
        total = 0.0
        for rows in (slice(k, k + _ROWS) for k in range(0, self.size, _ROWS)):
            gaps = self.targets[rows] - np.multiply.outer(x[rows], x)
            gaps *= gaps
            gaps *= self.known[rows]
            total += float(gaps.sum())
        return total / 4  # each pair is stored twice

    def sweep(self, x: Array, lower: Array, upper: Array) -> tuple[Array, float]:
        x = _numbers(x).copy()
        known = _numbers(self.known), _numbers(self.weighted)
        return x, sweep_dense(*known, x, _numbers(lower), _numbers(upper))

    def block(self, members: NDArray[np.intp]) -> Array:
        return self.weighted[np.ix_(members, members)]


def of_entries(known: sp.csr_array, targets: sp.csr_array) -> SparsePairs | DensePairs:
    """Dense where small or well filled, sparse elsewhere."""
    size = known.shape[0]
    if size <= _SMALL or worth_dense(known.nnz, size):
        return DensePairs(known.toarray(), targets.toarray())
    return SparsePairs(known, targets)


def worth_dense(entries: float, size: int) -> bool:
    """Whether products with dense matrices are quicker, for so many entries that are not zero."""
    return entries * _FILLED >= size * size


def _numbers(values: Array) -> Array:
    """As kernels take them: in one piece; the same memory where they are so already."""
    return np.ascontiguousarray(values, dtype=np.float64)
