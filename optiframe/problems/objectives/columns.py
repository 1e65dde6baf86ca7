"""A few columns of a matrix at a time, and its rows that agree in them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array

_DENSITY = 0.1  # of sparse columns, above which products take less time where they are dense
_VALUES = 8  # of a column at most, for its rows to be worth comparing
_SEEN = 64  # entries that tell most columns with more values
_TABLE = 1 << 16  # groups that are counted without sorting
_ROOM = 4  # times as many as rows, at most
_KEPT = 1 << 27  # bytes for the values of columns by number
_WORTH = 4  # times fewer groups than rows, or they are left as they are

_Coded = tuple[NDArray[np.int8], int]


class Columns:
    """Columns of a matrix, which may be sparse: then a copy by columns is kept from the first use on."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self._codes: dict[int, _Coded | None] = {}

    @cached_property
    def _by_column(self) -> Any:
        if not sp.issparse(self.matrix):
            return self.matrix
        found = self.matrix.tocsc()
        found.sum_duplicates()
        return found

    def products(self, indices: NDArray[np.intp], weights: Array | None) -> Array:
        """The rows of these columns of matrix' diag(weights) matrix; None: of matrix' matrix."""
        chosen = self._by_column if len(indices) == self.matrix.shape[1] else self._by_column[:, indices]
        if not sp.issparse(chosen):
            weighted = chosen if weights is None else chosen * weights[:, np.newaxis]
            return np.asarray(weighted.T @ self.matrix)
        data = chosen.data if weights is None else chosen.data * weights[chosen.indices]
        # Transposed, it is a matrix by rows: nothing is sorted again.
        left = sp.csr_array((data, chosen.indices, chosen.indptr), shape=chosen.shape[::-1])
        return np.asarray((left @ self.matrix).toarray())

    def take(self, indices: NDArray[np.intp]) -> Any:
        """A copy of these columns; dense where more than a tenth of it is not zero."""
        found = self._by_column[:, indices]
        if sp.issparse(found):
            crowded = found.nnz > _DENSITY * found.shape[0] * found.shape[1]
            return found.toarray(order="F") if crowded else sp.csr_array(found)
        return found

    def alike(
        self, indices: NDArray[np.intp], target: Array, weights: Array | None = None
    ) -> tuple[NDArray[np.intp], Array] | None:
        """Rows that stand for all that agree in these columns and in the target, and how many each.

        With weights of rows above 0, the sum of theirs in place of how many they are.

        None where that saves little: columns of many values, or few rows that agree.
        """
        rows = len(target)
        if (coded := _coded(target)) is None:
            return None
        found, count = coded[0].astype(np.intp), coded[1]
        room = min(_TABLE, _ROOM * rows)
        for j in indices.tolist():
            if j not in self._codes:
                self._codes[j] = self._values(j)
            if (coded := self._codes[j]) is None:
                return None
            code, values = coded
            if count * values > room:
                present = np.bincount(found, minlength=count) > 0
                count = int(np.count_nonzero(present))
                if count * _WORTH > rows:
                    return None
                found = (np.cumsum(present) - 1)[found]
            found, count = found * values + code, count * values
        sizes = np.bincount(found, weights, minlength=count)
        if np.count_nonzero(sizes) * _WORTH > rows:
            return None
        member = np.zeros(count, dtype=np.intp)
        member[found] = np.arange(rows)
        return member[sizes > 0], sizes[sizes > 0].astype(np.float64)

    def _values(self, j: int) -> _Coded | None:
        """The values of one column by number, in rising order; None where they are too many."""
        rows = self.matrix.shape[0]
        if rows * (len(self._codes) + 1) > _KEPT:
            return None
        if not sp.issparse(self.matrix):
            return _coded(self.matrix[:, j])
        start, end = self._by_column.indptr[j : j + 2]
        column = np.zeros(rows)
        column[self._by_column.indices[start:end]] = self._by_column.data[start:end]
        return _coded(column)


def _coded(values: Array) -> _Coded | None:
    """Entries by the number of their value, and how many values; None where those are more than a few."""
    known = np.unique(values[:: len(values) // _SEEN + 1])
    if len(known) > _VALUES:
        return None
    codes = np.searchsorted(known[:-1], values)
    if not (known[codes] == values).all():
        known, codes = np.unique(values, return_inverse=True)
    return (codes.astype(np.int8), len(known)) if len(known) <= _VALUES else None
