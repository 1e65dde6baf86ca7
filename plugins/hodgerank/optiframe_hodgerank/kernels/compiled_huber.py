"""Compiled passes over the rows of a graph, grouped by pair of items; imported for big inputs only.

What the loops compute is said by their twin `optiframe_hodgerank.huber.rows.HuberRows`; the tests hold
them to the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True))


@_compile
def huber(  # noqa: PLR0917  # compiled code is called by position
    level: float,
    scores: Array,
    first_pair: NDArray[Any],
    other: NDArray[Any],
    first_row: NDArray[Any],
    margin: Array,
    weight: Array,
    anchor: float,
    kept: Array,
    force: Array,
) -> float:
    """Huber's loss; `kept` of the rows within the threshold and the force are written.

    Pairs ``first_pair[i]`` to ``first_pair[i + 1]`` are of item i and the items `other`, rows
    ``first_row[p]`` to ``first_row[p + 1]`` are of pair p.
    """
    force[:] = 0.0
    loss, one = 0.0, np.uint64(1)  # unsigned as p is: with a signed number it would make a float
    for i in range(len(scores)):
        pull, part = 0.0, 0.0
        for p in range(first_pair[i], first_pair[i + 1]):
            j = other[p]
            between = scores[i] - scores[j]
            pair_pull, pair_near = 0.0, 0.0
            for e in range(first_row[p], first_row[p + one]):
                misfit = margin[e] - between
                held = min(max(misfit, -level), level)
                pull_of_row = weight[e] * held
                pair_pull += pull_of_row
                part += pull_of_row * (misfit - 0.5 * held)
                pair_near += weight[e] if held == misfit else anchor * weight[e]
            kept[p] = pair_near
            pull += pair_pull
            force[j] -= pair_pull
        force[i] += pull
        loss += part  # item by item, which keeps the rounding of a long sum small
    return loss


@_compile
def degrees(first_pair: NDArray[Any], other: NDArray[Any], kept: Array, degree: Array) -> None:
    """The total weight of the pairs of each item, of weight `kept`."""
    degree[:] = 0.0
    for i in range(len(degree)):
        total = 0.0
        for p in range(first_pair[i], first_pair[i + 1]):
            total += kept[p]
            degree[other[p]] += kept[p]
        degree[i] += total


@_compile
def laplacian_product(
    first_pair: NDArray[Any], other: NDArray[Any], kept: Array, v: Array, product: Array
) -> None:
    """The Laplacian of pairs of weight `kept`, times v."""
    product[:] = 0.0
    for i in range(len(v)):
        out = 0.0
        for p in range(first_pair[i], first_pair[i + 1]):
            flow = kept[p] * (v[i] - v[other[p]])
            out += flow
            product[other[p]] -= flow
        product[i] += out


@_compile
def parts(first_pair: NDArray[Any], other: NDArray[Any], kept: Array, whole: Array, least: float) -> int:
    """Number of components of the graph of the pairs of which more than the share `least` is kept."""
    items = len(first_pair) - 1
    above = np.arange(items)  # of each item another of its component, in the end one that is its own
    found = items
    for i in range(items):
        for p in range(first_pair[i], first_pair[i + 1]):
            if kept[p] > least * whole[p]:
                a, b = i, other[p]
                while above[a] != a:
                    above[a] = above[above[a]]
                    a = above[a]
                while above[b] != b:
                    above[b] = above[above[b]]
                    b = above[b]
                if a != b:
                    found -= 1
                    above[max(a, b)] = min(a, b)
    return found
