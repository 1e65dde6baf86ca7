"""Passes over the comparisons alone, each with its three rows of the factors: O(comparisons r).

Cheaper than `row_passes` where few of the entries are compared, and no penalty asks for all.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from optiframe.values import Array
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.row_passes import Comparisons


class EntryPasses:
    """Value, gradient and Hessian products of the loss; memory beside the results: 8 bytes a comparison."""

    def __init__(self, data: Comparisons, passes: ModuleType) -> None:
        self.data, self.passes = data, passes

    def value(self, x: LowRank, slope: Array, bend: Array) -> float:
        """The loss of the comparisons; its derivatives by the margins are kept."""
        data = self.data
        margin = self._margins(x.left, x.right)
        return float(self.passes.log_loss(margin, data.sigma, data.weight, slope, bend))

    def gradient(self, x: LowRank, slope: Array) -> LowRank:
        """S right and S' left, S being the gradient by the entries, from what `value` kept."""
        found = LowRank(np.zeros_like(x.left), np.zeros_like(x.right))
        self._pull(x, slope, found)
        return found

    def hessian_product(self, x: LowRank, v: LowRank, slope: Array, bend: Array) -> LowRank:
        """The derivative of `gradient` along `v`."""
        found = LowRank(np.zeros_like(x.left), np.zeros_like(x.right))
        change = self._margins(np.hstack([v.left, x.left]), np.hstack([x.right, v.right]))
        change *= bend
        self._pull(x, change, found)
        self._pull(v, slope, found)
        return found

    def _margins(self, left: Array, right: Array) -> Array:
        data, margin = self.data, np.empty(len(self.data.winner))
        self.passes.margins(left, right, data.pointer, data.winner, data.loser, margin)
        return margin

    def _pull(self, factors: LowRank, amount: Array, into: LowRank) -> None:
        data = self.data
        self.passes.pull(
            factors.left,
            factors.right,
            data.pointer,
            data.winner,
            data.loser,
            amount,
            into.left,
            into.right,
        )
