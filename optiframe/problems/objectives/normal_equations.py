"""Minima over few columns: products of the columns that were asked for, kept, and Cholesky's method."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array

_MOST = 1 << 24  # numbers to keep: 128 MB
# Of what a column has on the diagonal: below, it is nearly a sum of others, and digits mean little.
_PIVOT = 1e-10
_LEAST = 1e-280  # on the diagonal: smaller products have lost digits


class ColumnProducts:
    """Products of columns of a matrix with all its columns; each is computed when first asked for.

    One at a time, so that none depends on what was asked for before.
    """

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self._rows: dict[int, Array] = {}

    def among(self, indices: NDArray[np.intp]) -> Array | None:
        """matrix' matrix at these columns, shape (k, k); None where too many numbers would be kept."""
        for j in indices.tolist():
            if j not in self._rows:
                if (len(self._rows) + 1) * self._matrix.shape[1] > _MOST:
                    return None
                column = self._matrix[:, [j]]
                column = column.toarray() if sp.issparse(column) else column
                self._rows[j] = np.asarray(self._matrix.T @ column.ravel())
        return np.array([self._rows[j][indices] for j in indices.tolist()])


def solved(matrix: Array, right: Array) -> Array | None:
    """The solution of a positive definite system by Cholesky's method; None where it is nearly singular."""
    from scipy.linalg import cho_solve, cholesky

    try:
        factor = cholesky(matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    diagonal = np.diag(matrix)
    # Written so that what is not a number is refused, too: products of entries beyond 1e154 overflow.
    if not (np.diag(factor) ** 2 > np.maximum(_PIVOT * diagonal, _LEAST)).all():
        return None
    return np.asarray(cho_solve((factor, True), right, check_finite=False))
