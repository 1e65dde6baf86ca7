"""What the kernels compute, in plain NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve_triangular

from optiframe.records.fields import Array

Codes = NDArray[np.int64]
Single = NDArray[np.float32]

_SMALL = 100  # nodes of a graph that is solved by a dense pseudo-inverse, in a millisecond
_DAMPING = 4 / 3  # of the Jacobi step that smooths the groups, over the largest eigenvalue of D^-1 L
_ROUNDS = 5  # of the power method for that; an estimate that is a tenth too low costs a step in twenty
_SMALLER, _WIDER = 2, 8
"""Times the edges that all smaller graphs together may have: a cycle then costs at most three times the
largest graph's part. Times a graph's entries that the products which lead to a smaller one may have."""
_NOTHING = 1e-12  # edges lighter than this share of their node's are rounding


def merge(
    items: int, left: Codes, right: Codes, margin: Array, weight: Array | None
) -> tuple[Codes, Codes, Array, Array, Codes, Codes, NDArray[np.bool_]]:
    """Merge rows of the same two items and the same margin.

    Parameters
    ----------
    items
        Number of items, below 2^31.
    left, right
        Codes of the items of each row, from 0 to below `items`, shape (rows,).
    margin, weight
        y of left over right, and weight, of each row, shape (rows,); without weights each counts 1.

    Returns
    -------
    left, right, margin, weight, count
        The distinct rows, with left <= right, sorted by left, right and margin; the sum of the weights,
        and how many of the given rows each stands for.
    inverse, flipped
        For each given row the place of its distinct row, and whether left and right changed places.

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range.
    """
    flipped = left > right
    low, high = np.where(flipped, right, left), np.where(flipped, left, right)
    y = np.where(flipped, -margin, margin) + 0.0  # -0.0 becomes 0.0
    order = np.lexsort((y, high, low))
    fresh = _changes(low[order], high[order], y[order])
    first = order[fresh]
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(fresh) - 1
    count = np.bincount(inverse, minlength=len(first))
    total = np.bincount(inverse, weight, len(first)).astype(np.float64)
    return low[first], high[first], y[first], total, count, inverse, flipped


def _changes(*columns: NDArray[np.int64] | Array) -> NDArray[np.bool_]:
    """Whether a row of these columns is unlike the one before."""
    return np.append(True, np.any([each[1:] != each[:-1] for each in columns], axis=0))[: len(columns[0])]


class RowsByPair:
    """The rows of a graph sorted by pair of items, and passes over them.

    Memory is 16 bytes a row and 20 a pair. Arrays of pairs that passes take or write to are in this order.

    Parameters
    ----------
    items
        Number of items, below 2^31.
    left, right
        Codes of the items of each row, from 0 to below `items`, shape (rows,).
    margin, weight
        Of each row, shape (rows,).

    Attributes
    ----------
    first_pair
        Pairs ``first_pair[i]`` to ``first_pair[i + 1]`` have item i on the left, shape (items + 1,).
    other
        The item on the right of each pair, shape (pairs,).
    first_row
        Rows ``first_row[p]`` to ``first_row[p + 1]`` are of pair p, shape (pairs + 1,).
    margin, weight
        Of each row, in this order, shape (rows,).
    whole
        Total weight of the rows of each pair, shape (pairs,).

    Raises
    ------
    ValueError
        When lengths disagree or a code is out of range; of the passes, when a length is wrong.
    """

    def __init__(self, items: int, left: Codes, right: Codes, margin: Array, weight: Array) -> None:
        order = np.lexsort((right, left))
        self._left, self._right = left[order], right[order]
        fresh = _changes(self._left, self._right)
        first = np.flatnonzero(fresh)
        self._pair = np.cumsum(fresh) - 1
        self._here, self._there = self._left[first], self._right[first]  # the items of each pair
        self.first_pair = np.append(0, np.cumsum(np.bincount(self._here, minlength=items)))
        self.other = self._there.astype(np.int32)
        self.first_row = np.append(first, len(order))
        self.margin, self.weight = margin[order], weight[order]
        self.whole = np.bincount(self._pair, self.weight, len(first)).astype(np.float64)

    def huber(self, level: float, scores: Array, anchor: float, kept: Array, force: Array) -> float:
        """Huber's loss: the sum of w rho(y - score difference), rho linear beyond `level` (Xu et al., Eq. 3).

        Written to: `kept`, the weight of each pair's rows within the threshold and `anchor` times that of
        the others, shape (pairs,); and `force`, what pulls at each item (minus the gradient), shape (items,).
        """
        misfit = self.margin - (scores[self._left] - scores[self._right])
        held = np.clip(misfit, -level, level)
        pull = self.weight * held
        near = np.where(np.abs(misfit) <= level, self.weight, anchor * self.weight)
        kept[:] = np.bincount(self._pair, near, len(kept))
        force[:] = np.bincount(self._left, pull, len(force)) - np.bincount(self._right, pull, len(force))
        return float(pull @ (misfit - held / 2))

    def degrees(self, kept: Array, degree: Array) -> None:
        """Write the total weight of each item's pairs, of weight `kept`, to `degree`, shape (items,)."""
        items = len(degree)
        degree[:] = np.bincount(self._here, kept, items) + np.bincount(self._there, kept, items)

    def laplacian_product(self, kept: Array, v: Array, product: Array) -> None:
        """Write the Laplacian of the pairs, of weight `kept`, times v to `product`, shape (items,)."""
        flow = kept * (v[self._here] - v[self._there])
        product[:] = np.bincount(self._here, flow, len(v)) - np.bincount(self._there, flow, len(v))

    def parts(self, kept: Array, least: float) -> int:
        """Number of components of the graph of the pairs of which more than the share `least` is kept."""
        edges, items = kept > least * self.whole, len(self.first_pair) - 1
        cells = (np.ones(int(edges.sum())), (self._here[edges], self._there[edges]))
        graph = sp.coo_array(cells, shape=(items, items))
        return int(connected_components(graph, directed=False, return_labels=False)) if items else 0


def bregman_block(
    left: Codes,
    right: Codes,
    margin: Array,
    weight: Array,
    scores: Array,
    dual: Array,
    outliers: Array,
    after: Array,
    dt: float,
    kappa: float,
    into: Array,
) -> float:
    """One step of linearized Bregman iteration on a block of rows: Xu et al., Algorithm 4, (16a) to (16d).

    All but `scores` and `into`, of shape (items,), are of shape (rows,). Written to: `dual`, in place;
    `after`, the new outliers; `into`, what pulls at each item. Returns the largest residual.

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range; rows before it may be done.
    """
    rest = margin - (scores[left] - scores[right]) - outliers
    dual += dt * rest
    after[:] = kappa * (dual - np.clip(dual, -1.0, 1.0))
    pull = weight * rest
    into[:] = np.bincount(left, pull, len(into)) - np.bincount(right, pull, len(into))
    return float(np.abs(rest).max(initial=0.0))


class _Level(NamedTuple):
    """A graph's weights at both ends of an edge, its degrees, and P."""

    weights: sp.csr_array
    degree: Array
    prolongation: sp.csr_array


class Multigrid:
    """A cycle that nearly solves the Laplacian of a graph, for conjugate gradients; made by `multigrid`.

    Smoothed aggregation: neighbours are grouped, the groups' indicator vectors smoothed by one damped
    Jacobi step are the columns of P, and P'LP is the Laplacian of a smaller graph, which is treated
    likewise. Each level is smoothed by Gauss-Seidel, forward before and backward after the smaller one,
    which makes the cycle symmetric. Reference: Vanek, Mandel and Brezina 1996.
    """

    def __init__(self, levels: Sequence[_Level], smallest: sp.csr_array) -> None:
        self._levels, self._smallest = levels, smallest

    def smallest(self) -> tuple[Codes, NDArray[np.int32], Array]:
        """Weights of the smallest graph, by node: where its edges begin, whither they lead, their weight."""
        of = self._smallest
        return of.indptr.astype(np.int64), of.indices.astype(np.int32), of.data

    def cycle(self, b: Single, inverse: Single, x: Single) -> None:
        """Write about L^+ b, up to constants of the components, to x, all in single precision.

        `b` and `x` have an entry a node; `inverse` is the pseudo-inverse of the smallest graph's Laplacian.

        Raises
        ------
        ValueError
            When shapes disagree.
        """
        x[:] = self._cycle(0, b.astype(np.float64), inverse)

    def _cycle(self, at: int, b: Array, inverse: Single) -> Array:
        if at == len(self._levels):
            return np.asarray(inverse @ b)
        weights, degree, p = self._levels[at]
        joined = degree > 0  # the others have no edge, and stay 0
        diagonal = sp.diags_array(np.where(joined, degree, 1.0))
        before, after = sp.tril(weights, -1), sp.triu(weights, 1)
        x = _solve_triangular(diagonal - before, np.where(joined, b, 0.0), lower=True)
        left = b - (degree * x - weights @ x)
        x = x + p @ self._cycle(at + 1, p.T @ left, inverse)
        right = np.where(joined, b + before @ x, 0.0)
        return _solve_triangular(diagonal - after, right, lower=False)


def _solve_triangular(matrix: sp.sparray, right: Array, *, lower: bool) -> Array:
    columns = sp.csc_array(matrix)
    for each in ("indices", "indptr"):  # SciPy before 1.17 takes short ones alone
        setattr(columns, each, getattr(columns, each).astype(np.intc))
    return np.asarray(spsolve_triangular(columns, right, lower=lower))


def multigrid(rows: RowsByPair) -> Multigrid | None:
    """The cycle of the graph of all rows; None where smaller graphs have too many edges, as of random ones.

    Setting up takes some 30 passes over the edges, a cycle three; memory is 8 bytes an edge, and 60 for
    a moment.
    """
    items = len(rows.first_pair) - 1
    # A common factor changes nothing, and single precision overflows at 1e38.
    share = rows.whole / rows.whole.max(initial=1e-300)
    weights = sp.csr_array((share, rows.other, rows.first_pair), shape=(items, items))
    weights = sp.csr_array(weights + weights.T)
    levels: list[_Level] = []
    room = _SMALLER * weights.nnz
    while weights.shape[0] > _SMALL:
        degree = weights.sum(axis=1)
        inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
        indicator = _groups(weights)
        part = _DAMPING / _largest_eigenvalue(weights, inverse)
        p = sp.csr_array((1 - part) * indicator + sp.diags_array(part * inverse) @ (weights @ indicator))
        levels.append(_Level(weights, degree, p))
        image = sp.diags_array(degree) @ p - weights @ p
        wide = max(p.nnz, image.nnz) > _WIDER * weights.nnz
        weights = _edges(p.T @ image)
        room -= weights.nnz
        if wide or room < 0:
            return None
    return Multigrid(levels, weights)


def _groups(weights: sp.csr_array) -> sp.csr_array:
    """Which node is in which group, as a matrix of 1 and 0; a node without edges is in none.

    A node none of whose neighbours is in a group yet founds one with all of them; then what is left over
    joins the group of a neighbour.
    """
    nodes, count, near = weights.shape[0], 0, np.split(weights.indices, weights.indptr[1:-1])
    group = np.full(nodes, -1)
    for i in range(nodes):
        if group[i] < 0 and len(near[i]) and (group[near[i]] < 0).all():
            group[i] = group[near[i]] = count
            count += 1
    joined = group.copy()
    for left_over in np.flatnonzero(group < 0):
        taken = group[near[left_over]]
        joined[left_over] = next(iter(taken[taken >= 0]), -1)
    within = np.flatnonzero(joined >= 0)
    return sp.csr_array((np.ones(len(within)), (within, joined[within])), (nodes, count))


def _largest_eigenvalue(weights: sp.csr_array, inverse: Array) -> float:
    """About the largest eigenvalue of D^-1 L = I - D^-1 W, which is at most 2, by the power method."""
    x, largest = np.cos(np.arange(len(inverse), dtype=np.float64) ** 2), 1.0
    for _ in range(_ROUNDS):
        x /= float(np.linalg.norm(x)) or 1.0
        x -= inverse * (weights @ x)
        largest = float(np.linalg.norm(x))
    return min(max(largest, 1.0), 2.0)


def _edges(laplacian: sp.csr_array) -> sp.csr_array:
    """The weights of the graph that has this Laplacian, but for rounding."""
    entries = laplacian.tocoo()
    edge = (entries.row != entries.col) & (
        np.abs(entries.data) > _NOTHING * laplacian.diagonal()[entries.row]
    )
    cells = (-entries.data[edge], (entries.row[edge], entries.col[edge]))
    return sp.csr_array(sp.coo_array(cells, shape=laplacian.shape))
