"""Complementary slackness with a support, as bounds on differences of prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe_tvcs.projection.certificate import Bounds, used

Units = NDArray[Any]

NOBODY, WHOLE_VECTOR = 0, 1  # the unknowns 0 and y0 of `Conditions`


@dataclass(frozen=True)
class Conditions:
    """Complementary slackness with a support, as bounds on differences of unknowns.

    The unknowns are 0, ``y0``, then ``a = y0 + u`` of each row and ``b = -w`` of each column; each
    condition reads ``unknown[left] <= unknown[right] + most``, and they are sorted by `left`.
    """

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    most: Units
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    @property
    def unknowns(self) -> int:
        """How many unknowns there are."""
        return 2 + len(self.rows) + len(self.columns)

    @classmethod
    def of(cls, worth: Units, bounds: Bounds, support: NDArray[np.bool_]) -> Conditions:
        """The conditions that a feasible support puts on prices, by whole worths (int64, or Python's)."""
        rows, row_caps, columns, column_caps, total = bounds
        first_row, first_column = 2, 2 + len(row_caps)
        unknowns = first_column + len(column_caps)
        upper = np.where(rows >= 0, first_row + rows, WHOLE_VECTOR)
        lower = np.where(columns >= 0, first_column + columns, NOBODY)
        left_out = ~support & (worth > 0)
        every_row, every_column = np.arange(first_row, first_column), np.arange(first_column, unknowns)
        spare_row = every_row[used(rows[support], len(row_caps)) < row_caps]
        spare_column = every_column[used(columns[support], len(column_caps)) < column_caps]
        spare_total = np.full(int(np.count_nonzero(support) < total), WHOLE_VECTOR)

        def zero(nodes: NDArray[np.intp]) -> Units:
            return np.zeros(len(nodes), dtype=np.int64)

        def same(node: int, times: NDArray[np.intp]) -> NDArray[np.intp]:
            return np.full(len(times), node)

        # Each condition reads: unknown[left] <= unknown[right] + most.
        left = np.concatenate(
            [upper[support], lower[left_out], [NOBODY], spare_total, same(WHOLE_VECTOR, every_row),
             spare_row, every_column, same(NOBODY, spare_column)]
        )  # fmt: skip
        right = np.concatenate(
            [lower[support], upper[left_out], [WHOLE_VECTOR], same(NOBODY, spare_total), every_row,
             same(WHOLE_VECTOR, spare_row), same(NOBODY, every_column), spare_column]
        )  # fmt: skip
        most = np.concatenate(
            [worth[support], -worth[left_out], [0], zero(spare_total), zero(every_row), zero(spare_row),
             zero(every_column), zero(spare_column)]
        )  # fmt: skip
        order = np.argsort(left, kind="stable")
        return cls(left[order], right[order], most[order], every_row, every_column)
