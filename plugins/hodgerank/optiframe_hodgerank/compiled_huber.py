"""Compiled passes over the rows of a graph, grouped by pair of items; imported for big inputs only.

What the loops compute is said by their twin `optiframe_hodgerank.huber_rows.HuberRows`; the tests hold
them to the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numpy.typing import NDArray

from optiframe.values import Array

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
    degree: Array,
    force: Array,
) -> float:
    """Huber's loss; `kept` and `degree` of the rows within the threshold and the force are written.

    Pairs ``first_pair[i]`` to ``first_pair[i + 1]`` are of item i and the items `other`, rows
    ``first_row[p]`` to ``first_row[p + 1]`` are of pair p.
    """
    degree[:] = 0.0
    force[:] = 0.0
    loss = 0.0
    for i in range(len(scores)):
        pull, near, part = 0.0, 0.0, 0.0
        for p in range(first_pair[i], first_pair[i + 1]):
            j = other[p]
            between = scores[i] - scores[j]
            pair_pull, pair_near = 0.0, 0.0
            e, end = first_row[p], first_row[p + 1]
            while True:  # a pair has a row at least, and mostly one
                misfit = margin[e] - between
                held = min(max(misfit, -level), level)
                pull_of_row = weight[e] * held
                pair_pull += pull_of_row
                part += pull_of_row * (misfit - 0.5 * held)
                pair_near += weight[e] if held == misfit else anchor * weight[e]
                e += 1
                if e == end:
                    break
            kept[p] = pair_near
            pull += pair_pull
            near += pair_near
            force[j] -= pair_pull
            degree[j] += pair_near
        force[i] += pull
        degree[i] += near
        loss += part  # item by item, which keeps the rounding of a long sum small
    return loss


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
