"""Votes counted by pair: how often each side won, and how often they tied."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.kernels.votes import bradley_terry_terms

Codes = NDArray[np.int64]


class PairTerms(NamedTuple):
    """Minus a log-likelihood, its slope in the scores, (items,), and its curvature by pair, (pairs,)."""

    loss: float
    slope: Array
    curve: Array


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

    @property
    def decided(self) -> Tally:
        """Without the ties."""
        return self._replace(tied=np.zeros_like(self.tied))

    def terms(self, theta: Array, extra: float = 0.0) -> PairTerms:
        """Of Bradley-Terry for the decided votes, `extra` ties added to every pair as half a win of both."""
        slope, curve = np.empty(self.items), np.empty(len(self.left))
        loss = bradley_terry_terms(self.left, self.right, self.won, self.lost, extra, theta, slope, curve)
        return PairTerms(loss, slope, curve)


def tally(graph: ComparisonGraph) -> Tally:
    """The votes of a graph whose margins are 1, -1 and 0."""
    pairs = graph.by_pair
    first = pairs.first_row[:-1]
    won, lost, tied = (
        np.add.reduceat(pairs.weight * (np.sign(pairs.margin) == y), first) for y in (1, -1, 0)
    )
    left = np.repeat(np.arange(graph.items), np.diff(pairs.first_pair))
    return Tally(graph.items, left, pairs.other.astype(np.int64), won, lost, tied, graph.components)
