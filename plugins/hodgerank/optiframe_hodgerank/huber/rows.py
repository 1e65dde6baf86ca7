"""Huber's loss over the rows of a graph, its gradient, and its Hessian as a Laplacian."""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph

_ANCHOR = 1e-8
"""Share of the whole Laplacian added to that of the unflagged rows: where these fall into parts, a
step between parts stays finite. It slows the last steps by nothing that can be measured."""
_A_ROW = 1e-6
"""A pair keeps so much more than of flagged rows alone where one row is within: weights are at most 1e10
times apart, so that a row within adds 1e-2 of that over the number of the pair's rows."""


class HuberRows:
    """The rows of a graph as Newton's method on Huber's loss needs them.

    Their Laplacian is the Hessian at the scores last asked for: that of the rows within the threshold,
    and a little of the whole. Memory is 8 bytes a pair, besides `ComparisonGraph.by_pair`.
    """

    def __init__(self, graph: ComparisonGraph) -> None:
        self._rows, self._items = graph.by_pair, graph.items
        self._kept = np.zeros(len(self._rows.other))

    @property
    def degree(self) -> Array:
        degree = np.empty(self._items)
        self._rows.degrees(self._kept, degree)
        return degree

    def huber(self, level: float, scores: Array) -> tuple[float, Array]:
        """The loss, and what pulls at each item (minus the gradient); the Hessian is then that here."""
        force = np.empty(self._items)
        return self._rows.huber(level, scores, _ANCHOR, self._kept, force), force

    def product(self, v: Array) -> Array:
        product = np.empty(self._items)
        self._rows.laplacian_product(self._kept, v, product)
        return product

    def parts(self) -> int:
        """Number of components of the graph of the rows within the threshold."""
        return self._rows.parts(self._kept, (1 + _A_ROW) * _ANCHOR)
