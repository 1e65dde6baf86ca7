"""The comparison graph: items are nodes, merged comparisons are weighted, oriented edges."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_hodgerank.graph.laplacian import Components, LaplacianInverse, invert
from optiframe_hodgerank.graph.multigrid import Cycle
from optiframe_hodgerank.kernels import reference, rows

Codes = NDArray[np.int64]


class ComparisonGraph:
    """Items and the merged comparisons between them, y = X theta + ... with weights w.

    Row e of X has +1 at ``left[e]`` and -1 at ``right[e]``. The Laplacian is L = X' W X with
    W = diag(w); its pseudo-inverse is factored on first use and dropped when pickled.

    Parameters
    ----------
    items
        Number of items, n.
    left, right
        Codes of the items of each row, shape (rows,), with left != right.
    margin
        y of each row, shape (rows,).
    weight
        w of each row, shape (rows,), positive: how many comparisons it stands for. None: 1 each.

    Notes
    -----
    Memory: 40 bytes a row, and what the inverse takes (see `optiframe_hodgerank.graph.laplacian`).
    """

    def __init__(
        self, items: int, left: Codes, right: Codes, margin: Array, weight: Array | None = None
    ) -> None:
        self.items = int(items)
        self.left = np.ascontiguousarray(left, np.int64)
        self.right = np.ascontiguousarray(right, np.int64)
        self.margin = np.ascontiguousarray(margin, np.float64)
        self.weight = np.ones(len(margin)) if weight is None else np.ascontiguousarray(weight, np.float64)
        if not len(left) == len(right) == len(margin) == len(self.weight):
            raise InvalidInput("left, right, margin and weight differ in length")

    @property
    def rows(self) -> int:
        """Number of (merged) rows."""
        return len(self.margin)

    def __repr__(self) -> str:
        return f"<comparison graph of {self.items} items and {self.rows} rows>"

    def __getstate__(self) -> dict[str, Any]:
        return {key: self.__dict__[key] for key in ("items", "left", "right", "margin", "weight")}

    def differences(self, theta: Array) -> Array:
        """X theta: score of the left item minus that of the right one, shape (rows,)."""
        return np.asarray(theta[self.left] - theta[self.right])

    def divergence(self, r: Array) -> Array:
        """X' r, without weights: what flows into each item, shape (items,)."""
        into = np.bincount(self.left, r, minlength=self.items)
        return np.asarray(into - np.bincount(self.right, r, minlength=self.items))

    @cached_property
    def weight_of_items(self) -> Array:
        """Total weight of the rows of each item, the diagonal of L, shape (items,)."""
        left = np.bincount(self.left, self.weight, self.items)
        return np.asarray(left + np.bincount(self.right, self.weight, self.items))

    @cached_property
    def largest_margin(self) -> float:
        """The largest size of a margin."""
        return float(np.abs(self.margin).max(initial=0.0))

    @cached_property
    def by_pair(self) -> reference.RowsByPair:
        """The rows sorted by pair of items, and passes over them."""
        return rows.RowsByPair(self.items, self.left, self.right, self.margin, self.weight)

    @cached_property
    def laplacian(self) -> sp.csr_array:
        """L = X' W X, sparse, shape (items, items)."""
        cells = (self.weight, (self.left, self.right))
        one_way = sp.csr_array(sp.coo_array(cells, shape=(self.items, self.items)))
        diagonal = sp.dia_array((self.weight_of_items[None, :], [0]), shape=one_way.shape)
        return sp.csr_array(diagonal - one_way - one_way.T)

    @cached_property
    def components(self) -> Codes:
        """Label 0, 1, ... of the connected component of each item, shape (items,)."""
        pairs = self.by_pair
        edges = (np.ones(len(pairs.other), dtype=np.int8), pairs.other, pairs.first_pair)
        graph = sp.csr_array(edges, shape=(self.items, self.items))
        labels = connected_components(graph, directed=False)[1]
        return np.asarray(labels, dtype=np.int64)

    @cached_property
    def _means(self) -> Components:
        return Components(self.components)

    @property
    def connected(self) -> bool:
        """Whether all items can be compared with each other."""
        return bool(self.components.max() == 0)

    @cached_property
    def laplacian_inverse(self) -> LaplacianInverse:
        """L^+, by whichever method suits the size; factored on first use."""
        return invert(self.laplacian, self.components, cycle=lambda: self.multigrid)

    @cached_property
    def multigrid(self) -> Cycle | None:
        """A cycle that nearly applies L^+, for conjugate gradients; None where there is no good one."""
        return Cycle.of(self.by_pair)

    @property
    def method(self) -> str:
        """How L^+ is applied: "dense", "sparse LU", "conjugate gradients + multigrid" or "... + diagonal"."""
        return self.laplacian_inverse.method

    def solve(self, b: Array) -> Array:
        """L^+ b, which sums to zero within each component; b of shape (items,) or (items, k)."""
        return self.laplacian_inverse.solve(b)

    def scores(self, margin: Array) -> Array:
        """Weighted least-squares scores of a margin vector of shape (rows,): L^+ X' W margin."""
        return self.solve(self.divergence(self.weight * margin))

    def cycles(self, margin: Array) -> Array:
        """What scores cannot explain: the projection of `margin` onto the cycle space.

        Orthogonal in the inner product weighted by `weight`; ``X' W`` of it is zero.
        """
        return np.asarray(margin - self.differences(self.scores(margin)))

    def centred(self, theta: Array) -> Array:
        """`theta` moved to sum zero within each component."""
        return self._means.centred(theta)
