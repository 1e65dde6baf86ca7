"""Compiled twins of the passes over comparisons and blocks of rows; imported for big inputs only.

The first use on a machine compiles for some seconds and keeps the result on disk. What each
function computes is said in `optiframe_manifold.plain`, whose functions have the same names
and arguments; the tests hold the two to the same numbers.

Products of a multiply and an add may be fused (``contract``), which only makes them more
exact. Sums are never reordered by the compiler: they run in lanes of our own, so that the
result does not depend on how wide the machine's vectors are. Without that promise the
compiler would leave the sums scalar, and with permission to reorder it might cancel the
rounding trick in `_exp`. Division follows NumPy, without a check for zero, which would keep a
loop from being vectorized.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has none
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from optiframe.values import Array

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast(
    "Callable[[F], F]", numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
)
_instruction = cast("Callable[[Callable[..., Any]], Callable[[Any], Any]]", intrinsic)
_inline = cast("Callable[[F], F]", numba.njit(inline="always"))

_LANES = 512  # columns summed side by side: 4 KB, a part of the first cache

_LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with so few digits that its product with a whole number is exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# 1.5 * 2^52: adding it leaves the nearest whole number in the last bits of the sum.
_ROUND = 6755399441055744.0
_LEAST = -708.0  # below, exp(x) is no ordinary number; it is taken as exp(-708) = 3e-308


@_instruction
def _as_bits(typing: Any, number: Any) -> Any:
    """The 64 bits of a float."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@_instruction
def _as_float(typing: Any, bits: Any) -> Any:
    """The float of 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@_inline
def _exp(x: float) -> float:
    """exp(x) for x up to 709 within 2 units in the last place, in steps that vectorize.

    x = k ln 2 + r with |r| <= ln 2 / 2; Taylor's polynomial of degree 13 in r is exact to 1e-17,
    and 2^k is made of bits. NaN stays NaN.
    """
    x = _LEAST if x < _LEAST else x
    shifted = x * _LOG2_E + _ROUND
    whole = shifted - _ROUND
    r = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * float(_as_float((_as_bits(shifted) + 1023) << 52))


@_inline
def _log1p(t: float) -> float:
    """log(1 + t) for 0 <= t <= 1 within 3 units in the last place, in steps that vectorize.

    log(1 + t) = 2 artanh(s) with s = t / (2 + t) <= 1/3; the term after the last, s^33 / 33, is
    below 6e-18.
    """
    s = t / (2.0 + t)
    q = s * s
    p = 1.0 / 31.0
    p = p * q + 1.0 / 29.0
    p = p * q + 1.0 / 27.0
    p = p * q + 1.0 / 25.0
    p = p * q + 1.0 / 23.0
    p = p * q + 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    return 2.0 * s * (p * q + 1.0)


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
            t = _exp(-abs(z))
            share = 1.0 / (1.0 + t)
            s[j] = -to_sigma * heavy[j] * (share if z < 0.0 else t * share)
            b[j] = to_sigma * to_sigma * heavy[j] * (t * share * share)
            lanes[j] += heavy[j] * (0.5 * (abs(z) - z) + _log1p(t))
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
                lanes[j] += _exp(part[j] * part[j] - shift)
    return float(lanes.sum())


@_compile
def exp_terms(x: Array, shift: float) -> float:
    """Sum of exp(x^2 - shift), entries to x exp(x^2 - shift)."""
    lanes = np.zeros(_LANES)
    for i in range(x.shape[0]):
        for first in range(0, x.shape[1], _LANES):
            part = x[i, first : min(first + _LANES, x.shape[1])]
            for j in range(len(part)):
                grown = _exp(part[j] * part[j] - shift)
                lanes[j] += grown
                part[j] *= grown
    return float(lanes.sum())


@_compile
def exp_bends(x: Array, d: Array, shift: float, scale: float, growth: float) -> None:
    """Entries to scale x exp(x^2 - shift), and how they change."""
    for i in range(x.shape[0]):
        entries, change = x[i], d[i]
        for j in range(len(entries)):
            entry, along = entries[j], change[j]
            grown = scale * _exp(entry * entry - shift)
            entries[j] = entry * grown
            change[j] = grown * (along + entry * (2.0 * entry * along - growth))
