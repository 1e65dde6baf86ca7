"""Columns centred and scaled before a fit, and the way back to the samples as they came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.records.fields import Array, read_only

_DENSE = 1 << 20  # numbers of a sparse table that is made dense: with so few, calls take most of the time
_ROUNDING = 1e-7  # of a column's spread over its largest entry; squares lose half of the digits


@dataclass(frozen=True, eq=False)
class Scaling:
    """How columns are centred and scaled before a fit; of sparse tables, columns with zeros are scaled only.

    Parameters
    ----------
    centre, scale
        Of the columns, shape (features,); a column is (column - centre) / scale.
    intercept
        Whether a column of ones is appended.
    """

    centre: Array
    scale: Array
    intercept: bool

    @classmethod
    def of(cls, matrix: Any, weights: Array, *, standardise: bool, intercept: bool) -> Scaling:
        """The scaling that weighted samples ask for; columns that never change keep their scale."""
        share = weights / weights.sum()
        columns = matrix.shape[1]
        sparse = sp.issparse(matrix)
        largest = abs(matrix).max(axis=0).toarray().ravel() if sparse else np.abs(matrix).max(axis=0)
        # Squares of very large and very small entries are no ordinary numbers.
        unit = np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1000, 1000))
        if sparse:
            near_one = sp.csr_array(matrix @ sp.diags_array(1.0 / unit))
            # Only a column without zeros can lie far away from 0, next to its spread; it stays as full.
            full = np.bincount(near_one.indices, minlength=columns) == len(share)
            means = np.where(full, near_one.T @ share, 0.0)
            near_one.data -= means[near_one.indices]
            squares = near_one.multiply(near_one).T @ share
            spread = np.sqrt(np.maximum(squares - (near_one.T @ share) ** 2, 0.0)) * unit
        else:
            near_one = matrix / unit
            means = share @ near_one
            spread = np.sqrt(share @ (near_one - means) ** 2) * unit
        # Without an intercept, centred columns would be another model.
        centre = means * unit if intercept else np.zeros(columns)
        scale = np.where(spread > _ROUNDING * largest, spread, 1.0) if standardise else np.ones(columns)
        return cls(centre, scale, intercept)

    def apply(self, matrix: Any) -> Any:
        """A copy, scaled, with a column of ones at the end where there is an intercept.

        It is read-only, so that a loss need not copy it again.
        """
        if sp.issparse(matrix):
            thin = sp.csr_array(matrix @ sp.diags_array(1.0 / self.scale))
            thin.data -= (self.centre / self.scale)[thin.indices]
            if self.intercept:
                thin = sp.hstack([thin, np.ones((matrix.shape[0], 1))], format="csr")
            return read_only(thin.toarray() if thin.shape[0] * thin.shape[1] <= _DENSE else thin)
        rows, columns = matrix.shape
        order: Literal["C", "F"] = "F" if np.isfortran(matrix) else "C"
        scaled = np.empty((rows, columns + self.intercept), order=order)
        np.subtract(matrix, self.centre, out=scaled[:, :columns])
        scaled[:, :columns] /= self.scale
        scaled[:, columns:] = 1.0
        return read_only(scaled)

    def undo(self, x: Array) -> tuple[Array, float]:
        """Coefficients and intercept for samples as they came.

        Raises
        ------
        InvalidInput
            Where a coefficient is beyond float64, naming the column.
        """
        with np.errstate(over="ignore"):
            weights = (x[:-1] if self.intercept else x) / self.scale
        if len(beyond := np.flatnonzero(~np.isfinite(weights))):
            raise InvalidInput(
                f"the entries of column {beyond[0]} of X are too small for a coefficient; multiply them "
                f"(its spread is {number(self.scale[beyond[0]])})"
            )
        return weights, float(x[-1] - weights @ self.centre) if self.intercept else 0.0
