"""The groups that can bind: the others are left out before a projection is solved.

A bound of at least the number of a group's elements forbids nothing. Such groups are common (a matrix
with one row has as many columns as entries, all of them such) and would cost a search as much as
those that bind. A bound of 0 forbids nothing either, once the group's elements count as worth nothing
(`closed`). Where such groups are few in a view, they stay: leaving them out saves little, and the kernel
could not treat a full matrix as one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.projection.certificate import Bounds, Prices

_FEW = 1 / 8  # of a view's groups


@dataclass(frozen=True)
class Binding:
    """Which groups are solved for, and the way to bounds and prices of these alone and back.

    Parameters
    ----------
    rows, columns
        Whether each group of a view is; shapes (row groups,), (column groups,).
    """

    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]

    @classmethod
    def of(cls, bounds: Bounds) -> Binding:
        """Time O(p + groups)."""
        return cls(
            _solved(bounds.row_labels, bounds.row_caps), _solved(bounds.column_labels, bounds.column_caps)
        )

    def reduced(self, bounds: Bounds) -> Bounds:
        """The bounds that are solved for, their groups renumbered; elements of the others are in none."""
        return Bounds(
            _renumbered(bounds.row_labels, self.rows),
            bounds.row_caps[self.rows],
            _renumbered(bounds.column_labels, self.columns),
            bounds.column_caps[self.columns],
            bounds.total,
        )

    def reduced_prices(self, prices: Prices) -> Prices:
        """Prices of the groups that are solved for out of those of all."""
        return Prices(prices.total, prices.rows[self.rows], prices.columns[self.columns])

    def all_prices(self, prices: Prices) -> Prices:
        """Prices of all groups out of those that are solved for; the others cost nothing."""
        return Prices(prices.total, _spread(prices.rows, self.rows), _spread(prices.columns, self.columns))


def _solved(labels: NDArray[np.int32], caps: NDArray[np.int64]) -> NDArray[np.bool_]:
    binding = np.asarray((caps > 0) & (caps < np.bincount(labels[labels >= 0], minlength=len(caps))))
    idle = len(caps) - np.count_nonzero(binding)
    return np.ones_like(binding) if idle < _FEW * len(caps) else binding


def _renumbered(labels: NDArray[np.int32], kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    if kept.all():
        return labels
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)  # [-1]: in no group
    return number[labels]


def _spread(prices: Array, kept: NDArray[np.bool_]) -> Array:
    if len(prices) == len(kept):
        return prices
    every = np.zeros(len(kept))
    every[kept] = prices
    return every
