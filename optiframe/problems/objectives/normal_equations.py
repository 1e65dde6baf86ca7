"""Minima over few columns: rows of a Hessian that were asked for, kept, and Cholesky's method."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.columns import Columns
from optiframe.records.fields import Array

_MOST = 1 << 24  # numbers to keep: 128 MB
# Of what a column has on the diagonal: below, it is nearly a sum of others, and digits mean little.
_PIVOT = 1e-10
_LEAST = 1e-280  # on the diagonal: smaller products have lost digits
_FIRST = 64  # rows to have room for
_SHARE = 8  # more than one column of so many at once: all of them, by one product
_BLOCK = 16  # columns that take little longer than two by themselves
_NARROW = 2048  # columns up to which rows are few enough for blocks of them


class HessianRows:
    """Rows of matrix' diag(weights) matrix + diag(ridge); each is computed when first asked for, and kept.

    Threads may share it, as they may share the objective that it belongs to.

    Parameters
    ----------
    columns
        Of the matrix, which has n rows.
    weights
        Shape (n,). None: 1 / n for all; then columns go in fixed blocks, so that no row depends on which were
        asked for before.
    ridge
        What is added to the diagonal: one number, or one for each column.
    """

    def __init__(self, columns: Columns, weights: Array | None, ridge: float | Array) -> None:
        self._columns, self._weights = columns, weights
        count = columns.matrix.shape[1]
        self._ridge = np.broadcast_to(ridge, count)
        self._place = np.full(count, -1)
        self._known = 0
        self._adding = Lock()
        self._table = np.empty((0, count))

    def rows(self, indices: NDArray[np.intp]) -> Array | None:
        """Rows of these columns, shape (k, columns); None where too many numbers would be kept."""
        return self._table[self._place[indices]] if self._has(indices) else None

    def whole(self) -> tuple[Array, NDArray[np.intp]] | None:
        """A table of all rows and the place of each column's row in it; None where there are too many."""
        return (self._table, self._place) if self._has(np.arange(len(self._place))) else None

    def among(self, indices: NDArray[np.intp]) -> Array | None:
        """The part that belongs to these columns, shape (k, k); None where there are too many."""
        if not self._has(indices):
            return None
        starts = self._place[indices] * len(self._place)
        return self._table.take(starts[:, np.newaxis] + indices)  # half the time of two lists of indices

    def _has(self, indices: NDArray[np.intp]) -> bool:
        if (self._place[indices] >= 0).all():
            return True
        with self._adding:
            return self._complete(indices[self._place[indices] < 0])

    def _complete(self, missing: NDArray[np.intp]) -> bool:
        """Add these rows, and whether there was room for them; only where no other thread adds any."""
        if not len(missing):  # another thread was first
            return True
        count = len(self._place)
        if self._weights is None:
            size = _BLOCK if count <= _NARROW else 1
            starts = np.unique(missing // size) * size
            blocks = [np.arange(start, min(start + size, count)) for start in starts.tolist()]
        elif len(missing) * _SHARE > count:
            blocks = [np.flatnonzero(self._place < 0)]
        else:
            blocks = [missing]
        return all(self._add(block) for block in blocks)

    def _add(self, block: NDArray[np.intp]) -> bool:
        count, end = len(self._place), self._known + len(block)
        if end * count > _MOST:
            return False
        if end > len(self._table):
            table = np.empty((min(max(2 * end, _FIRST), count), count))
            table[: self._known] = self._table[: self._known]
            self._table = table
        fresh = np.arange(self._known, end)
        self._table[self._known : end] = self._columns.products(block, self._weights)
        if self._weights is None:
            self._table[self._known : end] /= self._columns.matrix.shape[0]
        self._table[fresh, block] += self._ridge[block]
        # Last: other threads read rows that have a place.
        self._place[block], self._known = fresh, end
        return True


def solved(matrix: Array, right: Array) -> Array | None:
    """The solution of a positive definite system by Cholesky's method; None where it is nearly singular."""
    from scipy.linalg.lapack import dposv

    factor, found, failed = dposv(matrix, right, lower=True)
    if failed:
        return None
    # Written so that what is not a number is refused, too: products of entries beyond 1e154 overflow.
    if not (factor.diagonal() ** 2 > np.maximum(_PIVOT * matrix.diagonal(), _LEAST)).all():
        return None
    return np.asarray(found)
