"""The comparison graph without the flagged rows, one row flagged or believed again at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph

_BRIDGE = 1e-9
"""A row whose leverage is within this of 1 holds its graph together: 1 - leverage is what an
update divides by, and rounding leaves it right to about 1e-12."""
_FRESH = 64  # updates after which the inverse is computed again: each loses at most a digit or two


class InlierGraph:
    """Least squares over the rows that are not flagged, with an inverse updated row by row.

    Keeps (L_I + s sum_c 1_c 1_c'/n_c)^{-1}, where L_I is the Laplacian of the unflagged rows and c
    runs over the components of the whole graph, or the parts that `split` left; on vectors that sum
    to zero within each of them that is L_I^+. s is the mean weight of an item, so that weights in any
    unit are inverted to the same digits. An update costs items^2 (Sherman and Morrison), but
    where parts fall apart or join a new inverse, items^3; memory is 8 items^2 bytes.
    """

    def __init__(self, graph: ComparisonGraph) -> None:
        self.graph = graph
        self.flagged = np.zeros(graph.rows, dtype=bool)
        self.parts = graph.components
        """Label 0, 1, ... of the part of each item that unflagged rows hold together, shape (items,)."""
        self.number = int(self.parts.max()) + 1
        """How many parts there are."""
        self._updates = 0
        self._renew()

    def _renew(self) -> None:
        graph, kept = self.graph, ~self.flagged
        i, j, w = graph.left[kept], graph.right[kept], graph.weight[kept]
        n, of = graph.items, self.parts
        size, beside = np.bincount(of), float(graph.weight_of_items.mean()) or 1.0
        matrix = np.where(of[:, None] == of, beside / size[of], 0.0)
        cells = np.concatenate([i * n + i, j * n + j, i * n + j, j * n + i])
        matrix += np.bincount(cells, np.concatenate([w, w, -w, -w]), minlength=n * n).reshape(n, n)
        self._inverse = np.linalg.inv(matrix)
        self._updates = 0

    def solve(self, b: Array) -> Array:
        """L_I^+ b for a vector that sums to zero within each component, or for each row of a matrix."""
        return np.asarray(b @ self._inverse)  # which is symmetric

    def holds_together(self, row: int) -> bool:
        """Whether its component would fall apart without this unflagged row."""
        leverage = self.graph.weight[row] * self._across(row, self._column(row))
        return bool(leverage >= 1 - _BRIDGE)

    def flag(self, row: int) -> bool:
        """Leave a row out, unless it holds its component together; whether it was left out."""
        column = self._column(row)
        if self.graph.weight[row] * self._across(row, column) >= 1 - _BRIDGE:
            return False
        self._change(row, column, -float(self.graph.weight[row]))
        return True

    def unflag(self, row: int) -> None:
        """Take a row in again."""
        if self.parts[self.graph.left[row]] != self.parts[self.graph.right[row]]:
            self.flagged[row] = False
            self._part_anew()
            return
        self._change(row, self._column(row), float(self.graph.weight[row]))

    def split(self, rows: NDArray[np.int64]) -> None:
        """Leave rows out although parts fall apart: each part is then fitted by itself."""
        self.flagged[rows] = True
        self._part_anew()

    def _part_anew(self) -> None:
        self.parts = parts(self.graph, ~self.flagged)
        self.number = int(self.parts.max()) + 1
        self._renew()

    def _column(self, row: int) -> Array:
        return np.asarray(self._inverse[self.graph.left[row]] - self._inverse[self.graph.right[row]])

    def _across(self, row: int, theta: Array) -> float:
        return float(theta[self.graph.left[row]] - theta[self.graph.right[row]])

    def _change(self, row: int, column: Array, weight: float) -> None:
        scaled = column * (weight / (1 + weight * self._across(row, column)))
        self._inverse -= scaled[:, None] * column
        self.flagged[row] = weight < 0
        self._updates += 1
        if self._updates >= max(_FRESH, self.graph.items):  # then a new inverse costs no more than they did
            self._renew()

    def parts_without(self, rows: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """Component of each item once `rows` are left out too; None where none falls apart."""
        found = parts(self.graph, ~self.flagged & ~rows)
        return found if found.max() >= self.number else None


def parts(graph: ComparisonGraph, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Component of each item in the graph of the rows that are kept."""
    import scipy.sparse as sp

    edges = (np.ones(int(kept.sum())), (graph.left[kept], graph.right[kept]))
    joined = sp.coo_array(edges, shape=(graph.items, graph.items))
    return np.asarray(connected_components(joined, directed=False)[1], dtype=np.int64)
