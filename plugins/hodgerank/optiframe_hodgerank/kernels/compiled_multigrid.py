"""Compiled parts of `optiframe_hodgerank.graph.multigrid`, which says what they are for.

A graph's edges are given by node: those of node i are ``first[i]`` to ``first[i + 1]``, lead to `other`
and have weight `weight`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True))
Numbers = NDArray[Any]


@_compile
def both_ways(first: Numbers, other: Numbers, weight: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Every edge at both of its ends, where it is given at one of them."""
    nodes = len(first) - 1
    starts = np.zeros(nodes + 1, dtype=np.int64)
    for i in range(nodes):
        starts[i + 1] += first[i + 1] - first[i]
        for e in range(first[i], first[i + 1]):
            starts[other[e] + 1] += 1
    for i in range(nodes):
        starts[i + 1] += starts[i]
    at = starts[:-1].copy()
    others, weights = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
    for i in range(nodes):
        for e in range(first[i], first[i + 1]):
            j = other[e]
            others[at[i]], weights[at[i]] = j, weight[e]
            others[at[j]], weights[at[j]] = i, weight[e]
            at[i] += 1
            at[j] += 1
    return starts, others, weights


@_compile
def to_earlier(first: Numbers, other: Numbers, weight: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The edges of each node to earlier nodes, in single precision."""
    starts = np.zeros(len(first), dtype=np.int64)
    others, weights = np.empty(len(other) // 2, dtype=np.int32), np.empty(len(other) // 2, dtype=np.float32)
    at = 0
    for i in range(len(first) - 1):
        for e in range(first[i], first[i + 1]):
            if other[e] < i:
                others[at], weights[at] = other[e], weight[e]
                at += 1
        starts[i + 1] = at
    return starts, others, weights


@_compile
def weigh(first: Numbers, other: Numbers, weight: Numbers, x: Numbers, found: Numbers) -> None:
    """W x, with each edge given at its later node only."""
    for i in range(len(x)):
        total = np.float32(0.0)
        found[i] = 0.0
        for e in range(first[i], first[i + 1]):
            total += weight[e] * x[other[e]]
            found[other[e]] += weight[e] * x[i]
        found[i] += total


@_compile
def degrees(first: Numbers, weight: Numbers) -> Numbers:
    """The total weight of each node's edges."""
    found = np.zeros(len(first) - 1)
    for i in range(len(found)):
        for e in range(first[i], first[i + 1]):
            found[i] += weight[e]
    return found


@_compile
def aggregate(first: Numbers, other: Numbers) -> tuple[Numbers, int]:
    """The group of each node, -1 where it has no edge, and how many groups there are.

    A node none of whose neighbours is in a group yet founds one with all of them; then what is left
    over joins the group of a neighbour.
    """
    nodes, groups = len(first) - 1, 0
    group = np.full(nodes, -1, dtype=np.int32)
    for i in range(nodes):
        free = group[i] < 0 and first[i] < first[i + 1]
        for e in range(first[i], first[i + 1]):
            free = free and group[other[e]] < 0
        if free:
            group[i] = groups
            for e in range(first[i], first[i + 1]):
                group[other[e]] = groups
            groups += 1
    joined = group.copy()
    for i in range(nodes):
        for e in range(first[i], first[i + 1]):
            if group[i] < 0 and group[other[e]] >= 0:
                joined[i] = group[other[e]]
                break
    return joined, groups


@_compile
def multiply(  # noqa: PLR0917  # compiled code is called by position
    first: Numbers,
    other: Numbers,
    weight: Numbers,
    diagonal: Numbers,
    scale: Numbers,
    first_b: Numbers,
    other_b: Numbers,
    value_b: Numbers,
    columns: int,
) -> tuple[Numbers, Numbers, Numbers]:
    """(diag(diagonal) + diag(scale) W) B, W of the edges, B sparse by rows.

    Entries of a row are in no order, and after the last one is room left over.
    """
    rows = len(first) - 1
    room = len(weight) + columns
    starts = np.zeros(rows + 1, dtype=np.int64)
    others, values = np.empty(room, dtype=np.int32), np.empty(room)
    place, one = np.empty(columns, dtype=np.int64), np.uint32(1)  # unsigned as indices are
    for j in range(columns):
        place[j] = -1
    at = 0
    for i in range(rows):
        if at + columns > room:  # a row has at most so many entries
            room = 2 * room + columns
            more, and_more = np.empty(room, dtype=np.int32), np.empty(room)
            for e in range(at):  # sliced assignments take seconds to compile
                more[e], and_more[e] = others[e], values[e]
            others, values = more, and_more
        begin = at
        for f in range(first_b[i], first_b[i + 1]):
            at = _add(diagonal[i] * value_b[f], other_b[f], begin, at, place, others, values)
        for e in range(first[i], first[i + 1]):
            factor, k = scale[i] * weight[e], other[e]
            for f in range(first_b[k], first_b[k + one]):
                at = _add(factor * value_b[f], other_b[f], begin, at, place, others, values)
        starts[i + 1] = at
    return starts, others, values


@_compile
def _add(  # noqa: PLR0917  # compiled code is called by position
    value: float, j: int, begin: int, at: int, place: Numbers, others: Numbers, values: Numbers
) -> int:
    """Add to entry j of the row that begins at `begin` and so far ends at `at`; where it ends now."""
    if place[j] < begin:
        place[j] = at
        others[at], values[at] = j, value
        return at + 1
    values[place[j]] += value
    return at


@_compile
def forward(  # noqa: PLR0917  # compiled code is called by position
    first: Numbers, other: Numbers, weight: Numbers, scale: Numbers, b: Numbers, x: Numbers, left: Numbers
) -> None:
    """A Gauss-Seidel sweep from x = 0, first node to last, and what is left of b after it.

    The edges are those to earlier nodes only. When a node is set nothing of it is left; later nodes
    then leave something.
    """
    for i in range(len(b)):
        total = b[i]
        for e in range(first[i], first[i + 1]):
            total += weight[e] * x[other[e]]
        x[i] = total * scale[i]
        left[i] = 0.0
        for e in range(first[i], first[i + 1]):
            left[other[e]] += weight[e] * x[i]


@_compile
def backward(  # noqa: PLR0917  # compiled code is called by position
    first: Numbers, other: Numbers, weight: Numbers, scale: Numbers, b: Numbers, x: Numbers, rest: Numbers
) -> None:
    """A Gauss-Seidel sweep from x, last node to first; the edges are those to earlier nodes only."""
    for i in range(len(b)):
        rest[i] = b[i]
    for i in range(len(b) - 1, -1, -1):
        total = rest[i]
        for e in range(first[i], first[i + 1]):
            total += weight[e] * x[other[e]]
        x[i] = total * scale[i]
        for e in range(first[i], first[i + 1]):
            rest[other[e]] += weight[e] * x[i]


@_compile
def restrict(first: Numbers, other: Numbers, value: Numbers, fine: Numbers, coarse: Numbers) -> None:
    """P' times a fine vector."""
    for j in range(len(coarse)):
        coarse[j] = 0.0
    for i in range(len(fine)):
        for e in range(first[i], first[i + 1]):
            coarse[other[e]] += value[e] * fine[i]


@_compile
def prolong(first: Numbers, other: Numbers, value: Numbers, coarse: Numbers, fine: Numbers) -> None:
    """A fine vector, plus P times a coarse one."""
    for i in range(len(fine)):
        total = fine[i]
        for e in range(first[i], first[i + 1]):
            total += value[e] * coarse[other[e]]
        fine[i] = total
