"""A multigrid cycle that nearly solves a graph's Laplacian, for conjugate gradients.

Smoothed aggregation: neighbours are grouped, the groups' indicator vectors smoothed by one damped
Jacobi step are the columns of P, and P'LP is the Laplacian of a smaller graph, which is treated
likewise. Each level is smoothed by Gauss-Seidel, forward before and backward after the smaller one, which
makes the cycle symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.indices import unsigned

_SMALL = 100  # nodes of a graph that is solved by a dense pseudo-inverse, in a millisecond
_DAMPING = 4 / 3  # of the Jacobi step that smooths the groups, over the largest eigenvalue of D^-1 L
_ROUNDS = 5  # of the power method for that; an estimate that is a tenth too low costs a step in twenty
_THINNER = 0.5
"""A smaller graph has to have at most so many of the edges, or grouping does not pay: a cycle then costs
at most two times the largest graph's part."""
_NOTHING = 1e-12  # edges lighter than this share of their node's are rounding

Numbers = NDArray[Any]


@dataclass(frozen=True)
class _Level:
    """A graph's edges to earlier nodes, 1/degree, P and its number of columns; in single precision."""

    edges: tuple[Numbers, Numbers, Numbers]
    scale: Numbers
    prolongation: tuple[Numbers, Numbers, Numbers]
    groups: int


class Multigrid:
    """One cycle for the Laplacian of a graph; `None` from `multigrid` where groups do not make it small.

    Setting up takes some 30 passes over the edges, a cycle three; memory is 8 bytes an edge, and 60 for
    a moment. Single precision is enough: conjugate gradients correct what it loses.
    """

    def __init__(self, kernels: ModuleType, levels: list[_Level], inverse: Numbers) -> None:
        self._kernels, self._levels, self._inverse = kernels, levels, inverse

    def __call__(self, b: Array) -> Array:
        """About L^+ b, up to constants of the components."""
        size = float(np.abs(b).max(initial=0.0)) or 1.0
        return size * self._cycle(0, (b / size).astype(np.float32)).astype(np.float64)

    def _cycle(self, at: int, b: Numbers) -> Numbers:
        if at == len(self._levels):
            return np.asarray(self._inverse @ b)
        kernels, level = self._kernels, self._levels[at]
        x, left, rest = np.empty((3, len(b)), dtype=np.float32)
        coarse = np.empty(level.groups, dtype=np.float32)
        kernels.forward(*level.edges, level.scale, b, x, left)
        kernels.restrict(*level.prolongation, left, coarse)
        kernels.prolong(*level.prolongation, self._cycle(at + 1, coarse), x)
        kernels.backward(*level.edges, level.scale, b, x, rest)
        return x


def multigrid(first: Numbers, other: Numbers, weight: Array) -> Multigrid | None:
    """The cycle of a graph whose edges are given at one of their ends.

    None where a smaller graph has hardly fewer edges, as for random graphs, or numba is not installed.

    Parameters
    ----------
    first, other, weight
        Edges ``first[i]`` to ``first[i + 1]`` are at node i, lead to the nodes `other` and have `weight`.
    """
    kernels = _compiled()
    if kernels is None:
        return None
    # A common factor changes nothing, and single precision overflows at 1e38.
    edges = kernels.both_ways(first, other, weight / weight.max(initial=1e-300))
    levels: list[_Level] = []
    while len(edges[0]) - 1 > _SMALL:
        nodes, before = len(edges[0]) - 1, len(edges[1])
        degree = kernels.degrees(edges[0], edges[2])
        group, groups = kernels.aggregate(edges[0], edges[1])
        within = np.flatnonzero(group >= 0)
        starts = np.concatenate([[0], np.cumsum(group >= 0)])
        inverse = np.divide(1.0, degree, out=np.zeros(nodes), where=degree > 0)
        ends, indicator = _read(edges), _read((starts, group[within], np.ones(len(within))))
        earlier, scale = _single(kernels.to_earlier(*edges)), inverse.astype(np.float32)
        share = _DAMPING / _largest(kernels, earlier, scale)
        smooth = _cut(kernels.multiply(*ends, np.full(nodes, 1 - share), share * inverse, *indicator, groups))
        image = _cut(kernels.multiply(*ends, degree, np.full(nodes, -1.0), *_read(smooth), groups))
        levels.append(_Level(earlier, scale, _single(smooth), groups))
        edges = _edges_of(_matrix(smooth, groups).T.tocsr() @ _matrix(image, groups))
        if len(edges[1]) > _THINNER * before:
            return None
    return Multigrid(kernels, levels, _pseudo_inverse(edges).astype(np.float32))


def _largest(kernels: ModuleType, earlier: tuple[Numbers, Numbers, Numbers], inverse: Numbers) -> float:
    """About the largest eigenvalue of D^-1 L = I - D^-1 W, which is at most 2, by the power method."""
    x, largest = np.cos(np.arange(len(inverse)) ** 2).astype(np.float32), 1.0
    weighed = np.empty_like(x)
    for _ in range(_ROUNDS):
        x /= float(np.linalg.norm(x)) or 1.0
        kernels.weigh(*earlier, x, weighed)
        x -= inverse * weighed
        largest = float(np.linalg.norm(x))
    return min(max(largest, 1.0), 2.0)


def _cut(rows: tuple[Numbers, Numbers, Numbers]) -> tuple[Numbers, Numbers, Numbers]:
    """The same without the room that is left over."""
    first, other, value = rows
    return first, other[: first[-1]].copy(), value[: first[-1]].copy()


def _read(rows: tuple[Numbers, Numbers, Numbers]) -> tuple[Numbers, Numbers, Numbers]:
    """The same, as compiled passes read it fastest."""
    first, other, value = rows
    return unsigned(first), unsigned(other), value


def _single(rows: tuple[Numbers, Numbers, Numbers]) -> tuple[Numbers, Numbers, Numbers]:
    """The same in single precision, for the passes of a cycle."""
    first, other, value = _read(rows)
    return first, other, value.astype(np.float32)


def _matrix(rows: tuple[Numbers, Numbers, Numbers], columns: int) -> sp.csr_array:
    first, other, value = rows
    return sp.csr_array((value, other, first), shape=(len(first) - 1, columns))


def _edges_of(laplacian: sp.csr_array) -> tuple[Numbers, Numbers, Numbers]:
    """The edges at each node of the graph that has this Laplacian, but for rounding."""
    entries = laplacian.tocoo()
    least = _NOTHING * laplacian.diagonal()[entries.row]
    edge = (entries.row != entries.col) & (np.abs(entries.data) > least)
    row = entries.row[edge]
    first = np.searchsorted(row, np.arange(laplacian.shape[0] + 1))
    return first, entries.col[edge].astype(np.int32), -entries.data[edge]


def _pseudo_inverse(edges: tuple[Numbers, Numbers, Numbers]) -> Array:
    weights = _matrix(edges, len(edges[0]) - 1).toarray()
    laplacian = np.diag(weights.sum(axis=1)) - weights
    return np.asarray(np.linalg.pinv((laplacian + laplacian.T) / 2, rcond=1e-10, hermitian=True))


@cache
def _compiled() -> ModuleType | None:
    try:
        return import_module("optiframe_hodgerank.kernels.compiled_multigrid")
    except ImportError:  # not installed, or not for this version of NumPy
        return None
