"""Compiled twins of the passes over comparisons and blocks of rows; imported for big inputs only.

The first use on a machine compiles for some seconds and keeps the result on disk. What each
function computes is said in `optiframe_manifold.kernels.plain`, whose functions have the same names
and arguments; the tests hold the two to the same numbers.

Products of a multiply and an add may be fused (``contract``), which only makes them more
exact. Sums are never reordered by the compiler: they run in lanes of our own, so that the
result does not depend on how wide the machine's vectors are. Without that promise the
compiler would leave the sums scalar, and with permission to reorder it might cancel the
rounding trick in `exp`. Division follows NumPy, without a check for zero, which would keep a
loop from being vectorized.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from optiframe.fast_math import exp, log1p
from optiframe.records.fields import Array

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast(
    "Callable[[F], F]", numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
)

_LANES = 512  # columns summed side by side: 4 KB, a part of the first cache


@_compile
def log_loss(margin: Array, sigma: float, weight: Array, slope: Array, bend: Array) -> float:
    """The loss of margins, and its derivatives."""
    lanes, heavy, to_sigma = np.zeros(_LANES), np.ones(_LANES), 1.0 / sigma
    for first in range(0, len(margin), _LANES):
        # Slices of their own, and no condition inside the loop: so it is vectorized.
        last = min(first + _LANES, len(margin))
        m, s, b = margin[first:last], slope[first:last], bend[first:last]
        if len(weight) > 0:
            heavy[: last - first] = weight[first:last]
        for j in range(len(m)):
            z = m[j] * to_sigma
            t = exp(-abs(z))
            share = 1.0 / (1.0 + t)
            s[j] = -to_sigma * heavy[j] * (share if z < 0.0 else t * share)
            b[j] = to_sigma * to_sigma * heavy[j] * (t * share * share)
            lanes[j] += heavy[j] * (0.5 * (abs(z) - z) + log1p(t))
    return float(lanes.sum())


@_compile
def gather(
    x: Array, pointer: NDArray[np.int64], winner: NDArray[np.int32], loser: NDArray[np.int32], out: Array
) -> None:
    """What each comparison's two entries of a block differ by."""
    for i in range(x.shape[0]):
        for e in range(pointer[i], pointer[i + 1]):
            out[e] = x[i, winner[e]] - x[i, loser[e]]


@_compile
def spread(
    into: Array,
    pointer: NDArray[np.int64],
    winner: NDArray[np.int32],
    loser: NDArray[np.int32],
    amount: Array,
) -> None:
    """`gather` transposed."""
    for i in range(into.shape[0]):
        for e in range(pointer[i], pointer[i + 1]):
            into[i, winner[e]] += amount[e]
            into[i, loser[e]] -= amount[e]


@_compile
def margins(  # noqa: PLR0917  # compiled code is called by position
    left: Array,
    right: Array,
    pointer: NDArray[np.int64],
    winner: NDArray[np.int32],
    loser: NDArray[np.int32],
    out: Array,
) -> None:
    """What each comparison's two entries of a product differ by."""
    for i in range(left.shape[0]):
        for e in range(pointer[i], pointer[i + 1]):
            j, k = winner[e], loser[e]
            total = 0.0
            for a in range(left.shape[1]):
                total += left[i, a] * (right[j, a] - right[k, a])
            out[e] = total


@_compile
def pull(  # noqa: PLR0917  # compiled code is called by position
    left: Array,
    right: Array,
    pointer: NDArray[np.int64],
    winner: NDArray[np.int32],
    loser: NDArray[np.int32],
    amount: Array,
    to_left: Array,
    to_right: Array,
) -> None:
    """Products with the sparse matrix of amounts."""
    for i in range(left.shape[0]):
        for e in range(pointer[i], pointer[i + 1]):
            j, k, c = winner[e], loser[e], amount[e]
            for a in range(left.shape[1]):
                to_left[i, a] += c * (right[j, a] - right[k, a])
                push = c * left[i, a]
                to_right[j, a] += push
                to_right[k, a] -= push


@_compile
def pull_along(  # noqa: PLR0917  # compiled code is called by position
    left: Array,
    right: Array,
    pointer: NDArray[np.int64],
    winner: NDArray[np.int32],
    loser: NDArray[np.int32],
    slope: Array,
    bend: Array,
    to_left: Array,
    to_right: Array,
) -> None:
    """How `pull` changes along a direction."""
    rank = left.shape[1] // 2
    for i in range(left.shape[0]):
        for e in range(pointer[i], pointer[i + 1]):
            j, k, s = winner[e], loser[e], slope[e]
            change = 0.0
            for a in range(2 * rank):
                change += left[i, a] * (right[j, a] - right[k, a])
            change *= bend[e]
            for a in range(rank):
                to_left[i, a] += change * (right[j, a] - right[k, a]) + s * (
                    right[j, rank + a] - right[k, rank + a]
                )
                push = change * left[i, rank + a] + s * left[i, a]
                to_right[j, a] += push
                to_right[k, a] -= push


@_compile
def exp_sum(x: Array, shift: float) -> float:
    """Sum of exp(x^2 - shift)."""
    lanes = np.zeros(_LANES)
    for i in range(x.shape[0]):
        for first in range(0, x.shape[1], _LANES):
            part = x[i, first : min(first + _LANES, x.shape[1])]
            for j in range(len(part)):
                lanes[j] += exp(part[j] * part[j] - shift)
    return float(lanes.sum())


@_compile
def exp_terms(x: Array, shift: float) -> float:
    """Sum of exp(x^2 - shift), entries to x exp(x^2 - shift)."""
    lanes = np.zeros(_LANES)
    for i in range(x.shape[0]):
        for first in range(0, x.shape[1], _LANES):
            part = x[i, first : min(first + _LANES, x.shape[1])]
            for j in range(len(part)):
                grown = exp(part[j] * part[j] - shift)
                lanes[j] += grown
                part[j] *= grown
    return float(lanes.sum())


@_compile
def bend_rows(  # noqa: PLR0917  # compiled code is called by position
    x: Array,
    d: Array,
    exponents: tuple[float, float, float],
    pointer: NDArray[np.int64],
    winner: NDArray[np.int32],
    loser: NDArray[np.int32],
    slope: Array,
    bend: Array,
) -> None:
    """Entries to the gradient by them, and how it changes: row by row, while a row is in the first cache."""
    shift, scale, growth = exponents
    longest = 0
    for i in range(x.shape[0]):
        longest = max(longest, pointer[i + 1] - pointer[i])
    turn = np.empty(longest)
    for i in range(x.shape[0]):
        begin, end = pointer[i], pointer[i + 1]
        entries, change = x[i], d[i]
        for e in range(begin, end):
            turn[e - begin] = bend[e] * (change[winner[e]] - change[loser[e]])
        for j in range(len(entries)):
            entry, along = entries[j], change[j]
            grown = scale * exp(entry * entry - shift)
            entries[j] = entry * grown
            change[j] = grown * (along + entry * (2.0 * entry * along - growth))
        for e in range(begin, end):
            j, k = winner[e], loser[e]
            change[j] += turn[e - begin]
            change[k] -= turn[e - begin]
            entries[j] += slope[e]
            entries[k] -= slope[e]
