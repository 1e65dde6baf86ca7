"""Huber's loss over the rows of a graph, its gradient, and its Hessian as a Laplacian."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from optiframe.records.fields import Array
from optiframe_hodgerank.graph import conjugate_gradients
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.indices import unsigned
from optiframe_hodgerank.graph.rows_by_pair import worth_compiling

_ANCHOR = 1e-8
"""Share of the whole Laplacian added to that of the unflagged rows: where these fall into parts, a
step between parts stays finite. It slows the last steps by nothing that can be measured."""
_A_ROW = 1e-6
"""A pair keeps so much more than of flagged rows alone where one row is within: weights are at most 1e10
times apart, so that a row within adds 1e-2 of that over the number of the pair's rows."""


class Rows(conjugate_gradients.Rows, Protocol):
    """The rows of a graph as Newton's method on Huber's loss needs them.

    Their Laplacian is the Hessian at the scores last asked for: that of the rows within the threshold,
    and a little of the whole.
    """

    def huber(self, level: float, scores: Array) -> tuple[float, Array]:
        """The loss, and what pulls at each item (minus the gradient); the Hessian is then that here."""

    def parts(self) -> int:
        """Number of components of the graph of the rows within the threshold."""


class HuberRows:
    """Passes over all rows by NumPy; memory is 12 bytes an entry of the Laplacian and about 70 a row."""

    def __init__(self, graph: ComparisonGraph) -> None:
        self.graph = graph
        low, high = np.minimum(graph.left, graph.right), np.maximum(graph.left, graph.right)
        pairs, self._pair = np.unique(low * graph.items + high, return_inverse=True)
        i, j = np.divmod(pairs, graph.items)
        shape, number = (graph.items, graph.items), np.arange(len(pairs), dtype=np.float64)
        cells = (np.concatenate([number, number]), (np.concatenate([i, j]), np.concatenate([j, i])))
        self._matrix = sp.csr_array(sp.coo_array(cells, shape=shape))
        self._place = self._matrix.data.astype(np.int64)  # of each entry among the pairs
        self._pairs = len(pairs)
        self._within = np.zeros(graph.rows, dtype=bool)
        self._degree = np.zeros(graph.items)

    @property
    def degree(self) -> Array:
        return self._degree

    def huber(self, level: float, scores: Array) -> tuple[float, Array]:
        graph = self.graph
        misfit = graph.margin - graph.differences(scores)
        held = np.clip(misfit, -level, level)
        self._within = held == misfit
        kept = np.where(self._within, graph.weight, _ANCHOR * graph.weight)
        self._matrix.data = np.bincount(self._pair, kept, self._pairs)[self._place]
        self._degree = np.asarray(self._matrix @ np.ones(graph.items))
        weighted = graph.weight * held
        misfit -= held / 2
        return float(weighted @ misfit), graph.divergence(weighted)

    def product(self, v: Array) -> Array:
        return np.asarray(self._degree * v - self._matrix @ v)

    def parts(self) -> int:
        left, right = self.graph.left[self._within], self.graph.right[self._within]
        cells = (np.ones(len(left)), (left, right))
        within = sp.coo_array(cells, shape=(self.graph.items, self.graph.items))
        return int(connected_components(within, directed=False, return_labels=False))


class CompiledHuberRows:
    """The same by `optiframe_hodgerank.kernels.compiled_huber`; memory is 8 bytes a pair, besides
    `ComparisonGraph.by_pair`."""

    def __init__(self, graph: ComparisonGraph, kernels: ModuleType) -> None:
        self._kernels, self._rows = kernels, graph.by_pair
        self._pairs = unsigned(self._rows.first_pair), unsigned(self._rows.other)
        self._first_row = unsigned(self._rows.first_row)
        self._kept = np.zeros(len(self._rows.other))

    @property
    def degree(self) -> Array:
        degree = np.empty(len(self._pairs[0]) - 1)
        self._kernels.degrees(*self._pairs, self._kept, degree)
        return degree

    def huber(self, level: float, scores: Array) -> tuple[float, Array]:
        force = np.empty_like(scores)
        rows = self._rows
        loss = self._kernels.huber(
            level,
            scores,
            *self._pairs,
            self._first_row,
            rows.margin,
            rows.weight,
            _ANCHOR,
            self._kept,
            force,
        )
        return float(loss), force

    def product(self, v: Array) -> Array:
        product = np.empty_like(v)
        self._kernels.laplacian_product(*self._pairs, self._kept, v, product)
        return product

    def parts(self) -> int:
        least = (1 + _A_ROW) * _ANCHOR
        return int(self._kernels.parts(*self._pairs, self._kept, self._rows.whole, least))


def huber_rows(graph: ComparisonGraph) -> Rows:
    """The compiled passes where they pay and numba is installed, else those by NumPy."""
    compiled = _compiled() if worth_compiling(graph.rows) else None
    return HuberRows(graph) if compiled is None else CompiledHuberRows(graph, compiled)


@cache
def _compiled() -> ModuleType | None:
    try:
        return import_module("optiframe_hodgerank.kernels.compiled_huber")
    except ImportError:  # not installed, or not for this version of NumPy
        return None
