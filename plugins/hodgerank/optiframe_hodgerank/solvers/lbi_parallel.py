"""Linearized Bregman iteration by blocks of rows over threads: the variant `parallel` of `hodge.lbi`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.kernels.rows import bregman_block

_BLOCK = 32_768
"""Least rows of a block: 2 MB of them, which stay in a core's cache, and work enough (a tenth of a
millisecond) for handing it to a thread. It never depends on the number of threads: sums over blocks,
added in their order, are then the same bits for any."""


class ParallelStep:
    """Algorithm 4: the gradient step by blocks of rows over threads, synchronized.

    Every block updates its rows and gives X_b' W_b times its residual; these are added in the
    order of the blocks, which do not depend on the number of threads, and so the result is the
    same bits for any number. Memory besides the rows: 8 items bytes a block. A pass moves
    64 bytes a row: left, right, margin, weight, outliers and dual read, dual and outliers written.
    """

    def __init__(self, graph: ComparisonGraph, threads: int) -> None:
        self.graph = graph
        # Adding up the blocks' items must not cost more than the rows they stand for.
        size = max(_BLOCK, 4 * graph.items)
        self._blocks = [(a, min(a + size, graph.rows)) for a in range(0, graph.rows, size)]
        self._parts = np.zeros((len(self._blocks), graph.items))
        self._pool = ThreadPoolExecutor(threads) if threads > 1 and len(self._blocks) > 1 else None

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def __call__(
        self, scores: Array, dual: Array, outliers: Array, after: Array, *, dt: float, kappa: float
    ) -> tuple[Array, float]:
        """One step: `dual` changes in place, the new outliers are written to `after`.

        Gives the new scores and the largest residual of the old ones.
        """

        def block(number: int) -> float:
            return self._block(number, scores, dual, outliers, after, dt=dt, kappa=kappa)

        numbers = range(len(self._blocks))
        largest = max(map(block, numbers) if self._pool is None else self._pool.map(block, numbers))
        total = np.zeros(self.graph.items)
        for part in self._parts:
            total += part
        return scores + (kappa * dt) * total, largest

    def _block(
        self,
        number: int,
        scores: Array,
        dual: Array,
        outliers: Array,
        after: Array,
        *,
        dt: float,
        kappa: float,
    ) -> float:
        graph, (a, b), into = self.graph, self._blocks[number], self._parts[number]
        left, right, weight, margin = graph.left[a:b], graph.right[a:b], graph.weight[a:b], graph.margin[a:b]
        z, gamma, new = dual[a:b], outliers[a:b], after[a:b]
        return bregman_block(left, right, margin, weight, scores, z, gamma, new, dt, kappa, into)
