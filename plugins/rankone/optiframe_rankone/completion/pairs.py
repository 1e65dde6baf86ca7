"""The known pairs of a symmetric matrix as an operator: what the solvers need of N and C.

Four implementations of one small interface: dense matrices and sparse matrices (here), a table of
counts (`counted_pairs`), and the labels themselves, from which the products follow without any matrix
of pairs (`label_pairs`). They give the same numbers; which one is used is a matter of size (`of_entries`
here, and `from_labels`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from optiframe.records.fields import Array
from optiframe_rankone.kernels import prepared

_TINY = float(np.finfo(np.float64).tiny)  # a curvature below it makes a quotient mean nothing
_SMALL = 64  # up to this many rows a dense product takes a microsecond, calling a sparse one ten
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
        """(N * C) x and N x^2; in one pass where that is cheaper."""
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
    """Pairs kept one by one.

    Parameters
    ----------
    known, targets
        N and C as matrices of one pattern, shape (size, size), sorted indices, nothing on
        the diagonal.
    """

    def __init__(self, known: sp.csr_array, targets: sp.csr_array) -> None:
        self.size = int(known.shape[0])
        self.known, self.targets = known, targets

    @cached_property
    def weighted(self) -> sp.csr_array:
        """N_ij C_ij, on the same pattern."""
        known = self.known
        return sp.csr_array((known.data * self.targets.data, known.indices, known.indptr), known.shape)

    @cached_property
    def _rows(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.known.indptr))

    def absolute_sums(self) -> Array:
        sums = np.bincount(self._rows, weights=np.abs(self.weighted.data), minlength=self.size)
        return np.asarray(sums, dtype=np.float64)

    def cost(self, x: Array) -> float:
        if prepared.ready_for(self.known.nnz):
            return prepared.weighted_misses(self.known, self.targets.data, x) / 4
        misses = self.targets.data - x[self._rows] * x[self.known.indices]
        return float(np.dot(self.known.data, misses**2) / 4)  # each pair is stored twice

    def sweep(self, x: Array, lower: Array, upper: Array) -> tuple[Array, float]:
        x, squares, largest = x.copy(), x * x, 0.0
        for i in range(self.size):
            pull, curvature = self._pull(i, x, squares)
            if curvature > _TINY:
                best = min(max(pull / curvature, lower[i]), upper[i])
                largest = max(largest, abs(best - x[i]))
                x[i], squares[i] = best, best * best
        return x, float(largest)

    @abstractmethod
    def _pull(self, i: int, x: Array, squares: Array) -> tuple[float, float]:
        """Entry i of `pulls`, from x and its squares."""

    @cached_property
    def component(self) -> NDArray[np.int64]:
        return np.asarray(connected_components(self.known, directed=False)[1], dtype=np.int64)

    def block(self, members: NDArray[np.intp]) -> Array:
        return np.asarray(self.weighted[members][:, members].toarray())


class SparsePairs(EntryPairs):
    """Sparse matrices; memory is 40 bytes for each stored entry, time linear in the entries."""

    def weights(self, x: Array) -> Array:
        return np.asarray(self.known @ x)

    def products(self, x: Array) -> Array:
        return np.asarray(self.weighted @ x)

    def _pull(self, i: int, x: Array, squares: Array) -> tuple[float, float]:
        at = slice(self.known.indptr[i], self.known.indptr[i + 1])
        near = self.known.indices[at]
        return self.weighted.data[at] @ x[near], self.known.data[at] @ squares[near]


class DensePairs(EntryPairs):
    """Dense matrices; 16 bytes for each of size^2 entries besides the 40 for each stored one."""

    def __init__(self, known: sp.csr_array, targets: sp.csr_array) -> None:
        super().__init__(known, targets)
        # Memory of our own: NumPy asks for large pages where it does not ask for zeros.
        self._known, self._weighted = np.empty(known.shape), np.empty(known.shape)
        known.toarray(out=self._known)
        self.weighted.toarray(out=self._weighted)

    def weights(self, x: Array) -> Array:
        return np.asarray(self._known @ x)

    def products(self, x: Array) -> Array:
        return np.asarray(self._weighted @ x)

    def _pull(self, i: int, x: Array, squares: Array) -> tuple[float, float]:
        return self._weighted[i] @ x, self._known[i] @ squares


def of_entries(known: sp.csr_array, targets: sp.csr_array) -> EntryPairs:
    """Dense where small or well filled, sparse elsewhere."""
    size = known.shape[0]
    dense = size <= _SMALL or known.nnz * _FILLED >= size * size
    return DensePairs(known, targets) if dense else SparsePairs(known, targets)


def correlations_of(shared: sp.csr_array, agreed: Array, classes: int) -> Array:
    """Correlation of each pair of workers (Lemma 7) in the order of ``.data``; written over `agreed`."""
    agreed *= classes  # in place: these may be millions
    agreed /= shared.data
    agreed -= 1.0
    agreed /= classes - 1.0
    return agreed
