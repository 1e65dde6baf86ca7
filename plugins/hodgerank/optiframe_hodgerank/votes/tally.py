"""Votes counted by pair: how often each side won, and how often they tied."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph

Codes = NDArray[np.int64]


class Tally(NamedTuple):
    """Votes on each compared pair, ``left < right``, shape (pairs,) each.

    Parameters
    ----------
    items
        Number of items, n.
    left, right
        Codes of the items.
    won, lost, tied
        Weight of the votes for the left item, for the right one and for neither.
    component
        Label of the connected component of each item, shape (items,).
    """

    items: int
    left: Codes
    right: Codes
    won: Array
    lost: Array
    tied: Array
    component: Codes

    def differences(self, theta: Array) -> Array:
        """Score of the left item minus that of the right one, shape (pairs,)."""
        return np.asarray(theta[self.left] - theta[self.right])

    def divergence(self, flow: Array) -> Array:
        """What flows into each item, shape (items,)."""
        into = np.bincount(self.left, flow, self.items)
        return np.asarray(into - np.bincount(self.right, flow, self.items))


def tally(graph: ComparisonGraph) -> Tally:
    """The votes of a graph whose margins are 1, -1 and 0."""
    pairs = graph.by_pair
    first = pairs.first_row[:-1]
    won, lost, tied = (
        np.add.reduceat(pairs.weight * (np.sign(pairs.margin) == y), first) for y in (1, -1, 0)
    )
    left = np.repeat(np.arange(graph.items), np.diff(pairs.first_pair))
    return Tally(graph.items, left, pairs.other.astype(np.int64), won, lost, tied, graph.components)
