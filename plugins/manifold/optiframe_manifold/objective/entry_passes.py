"""Passes over the comparisons alone, each with its three rows of the factors: O(comparisons r).

Cheaper than `row_passes` where few of the entries are compared, and no penalty asks for all.
"""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_manifold.kernels import passes
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.row_passes import Comparisons


class EntryPasses:
    """Value, gradient and Hessian products of the loss; memory beside the results: 8 bytes a comparison."""

    def __init__(self, data: Comparisons) -> None:
        self.data = data

    def value(self, x: LowRank, slope: Array, bend: Array) -> float:
        """The loss of the comparisons; its derivatives by the margins are kept."""
        data = self.data
        margin = np.empty(len(data.winner))
        passes.margins(x.left, x.right, data.pointer, data.winner, data.loser, margin)
        return passes.log_loss(margin, data.sigma, data.weight, slope, bend)

    def gradient(self, x: LowRank, slope: Array) -> LowRank:
        """S right and S' left, S being the gradient by the entries, from what `value` kept."""
        data, found = self.data, LowRank(np.zeros_like(x.left), np.zeros_like(x.right))
        chosen = data.pointer, data.winner, data.loser
        passes.pull(x.left, x.right, *chosen, slope, found.left, found.right)
        return found

    def hessian_product(self, x: LowRank, v: LowRank, slope: Array, bend: Array) -> LowRank:
        """The derivative of `gradient` along `v`."""
        data, found = self.data, LowRank(np.zeros_like(x.left), np.zeros_like(x.right))
        left, right = np.hstack([v.left, x.left]), np.hstack([x.right, v.right])
        chosen = data.pointer, data.winner, data.loser
        passes.pull_along(left, right, *chosen, slope, bend, found.left, found.right)
        return found
