"""The group structure as compiled code takes it: elements by rows, by columns, and samples of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe_tvcs.projection.certificate import Bounds

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

_SAMPLES = (32, 140)  # elements a group in the lists on which prices are first found
_SPARSE = 0.22  # of all elements: a larger sample saves nothing


class Grouped(NamedTuple):
    """Both views with one more group each, without a bound, for elements in no group."""

    row: Codes
    column: Codes
    row_caps: Counts
    column_caps: Counts
    total: int

    @classmethod
    def of(cls, bounds: Bounds) -> Grouped:
        """The views of these bounds."""
        rows, row_caps, columns, column_caps, total = bounds
        free = len(rows) + 1  # more than can be chosen
        return cls(
            np.where(rows < 0, len(row_caps), rows).astype(np.int32),
            np.where(columns < 0, len(column_caps), columns).astype(np.int32),
            np.append(np.minimum(row_caps, free), free).astype(np.int64),
            np.append(np.minimum(column_caps, free), free).astype(np.int64),
            min(total, free),
        )

    def by_rows(self) -> tuple[Codes, Grouped]:
        """Permutation that sorts elements by row (empty if already sorted), and the views in that order."""
        if (self.row[1:] >= self.row[:-1]).all():
            return np.empty(0, np.int32), self
        order = np.argsort(self.row, kind="stable").astype(np.int32)
        return order, self._replace(row=self.row[order], column=self.column[order])


def _firsts(codes: Codes, groups: int) -> Counts:
    """Where each group begins among elements sorted by group."""
    return np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=groups))]).astype(np.int64)


def direct_layout(grouped: Grouped) -> tuple[Any, ...]:
    """What `kernels.direct.direct` takes: the elements by rows, and their places column by column."""
    order, (row, column, row_caps, column_caps, total) = grouped.by_rows()
    place = np.argsort(column, kind="stable").astype(np.int32)
    first, column_first = _firsts(row, len(row_caps)), _firsts(column, len(column_caps))
    return order, first, column, column_first, row[place], place, row_caps, column_caps, total


def sampled_layout(grouped: Grouped) -> tuple[Any, ...]:
    """What `compiled.project` takes: the elements by rows, bounds, and samples."""
    order, (row, column, row_caps, column_caps, total) = grouped.by_rows()
    first = _firsts(row, len(row_caps))
    row_length = np.diff(first).astype(np.float64)
    column_length = np.bincount(column, minlength=len(column_caps)).astype(np.float64)
    samples: list[Any] = []
    # The same elements every time: the answer does not depend on them, only its time.
    coin = np.random.default_rng(0).random(len(row), dtype=np.float32)
    share_r = (1 / np.maximum(row_length, 1)).astype(np.float32)
    share_c = (1 / np.maximum(column_length, 1)).astype(np.float32)
    for size in _SAMPLES:
        # so many of each group on average, and all of a group that is smaller
        chance = np.maximum(share_r[row], share_c[column])
        chance *= size
        place = np.flatnonzero(coin < chance).astype(np.int32)
        if len(place) > _SPARSE * len(row):
            place = place[:0]
        copies = 1 / np.minimum(chance[place], 1).astype(np.float64)
        samples += [np.searchsorted(place, first).astype(np.int64), column[place], place, copies]
    return (
        order, first, column, row_length, column_length, row_caps, column_caps, total, *samples,
    )  # fmt: skip
