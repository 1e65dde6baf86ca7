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
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from optiframe.values import Array

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy"))
_inline = cast("Callable[[F], F]", numba.njit(inline="always"))

_LANES = 512  # columns summed side by side: 4 KB, a part of the first cache

_LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with so few digits that its product with a whole number is exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# 1.5 * 2^52: adding it leaves the nearest whole number in the last bits of the sum.
_ROUND = 6755399441055744.0
_LEAST = -708.0  # below, exp(x) is no ordinary number; it is taken as exp(-708) = 3e-308


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _as_bits(typing: Any, number: Any) -> Any:
    """The 64 bits of a float."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _as_float(typing: Any, bits: Any) -> Any:
    """The float of 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@_inline
def _exp(x):  # type: ignore[no-untyped-def]  # numba puts the body in place; it must be bare
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
    return p * _as_float((_as_bits(shifted) + 1023) << 52)


@_inline
def _log1p(t):  # type: ignore[no-untyped-def]  # numba puts the body in place; it must be bare
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
    # Three short loops: the compiler vectorizes each, but not one with all of it.
    lanes, heavy = np.zeros(_LANES), np.ones(_LANES)
    for first in range(0, len(margin), _LANES):
        size = min(_LANES, len(margin) - first)
        if len(weight) > 0:
            for j in range(size):
                heavy[j] = weight[first + j]
        for j in range(size):
            bend[first + j] = _exp(-abs(margin[first + j] / sigma))
        for j in range(size):
            z = margin[first + j] / sigma
            lanes[j] += heavy[j] * (0.5 * (abs(z) - z) + _log1p(bend[first + j]))
        for j in range(size):
            t = bend[first + j]
            unlikely = t / (1.0 + t)
            bend[first + j] = (heavy[j] / (sigma * sigma)) * (unlikely / (1.0 + t))
            against = unlikely if margin[first + j] >= 0.0 else 1.0 - unlikely
            slope[first + j] = -(heavy[j] / sigma) * against
    return float(lanes.sum())


@_compile
def gather(
    x: Array, pointer: NDArray[np.int64], winner: NDArray[np.int32], loser: NDArray[np.int32], out: Array
) -> None:
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
    for i in range(left.shape[0]):
        for e in range(pointer[i], pointer[i + 1]):
            j, k, c = winner[e], loser[e], amount[e]
            for a in range(left.shape[1]):
                to_left[i, a] += c * (right[j, a] - right[k, a])
                push = c * left[i, a]
                to_right[j, a] += push
                to_right[k, a] -= push


@_compile
def exp_sum(x: Array, shift: float) -> float:
    lanes = np.zeros(_LANES)
    for i in range(x.shape[0]):
        for first in range(0, x.shape[1], _LANES):
            for j in range(min(_LANES, x.shape[1] - first)):
                lanes[j] += _exp(x[i, first + j] * x[i, first + j] - shift)
    return float(lanes.sum())


@_compile
def exp_terms(x: Array, shift: float) -> float:
    lanes = np.zeros(_LANES)
    for i in range(x.shape[0]):
        for first in range(0, x.shape[1], _LANES):
            for j in range(min(_LANES, x.shape[1] - first)):
                entry = x[i, first + j]
                grown = _exp(entry * entry - shift)
                lanes[j] += grown
                x[i, first + j] = entry * grown
    return float(lanes.sum())


@_compile
def exp_bends(x: Array, d: Array, shift: float, scale: float) -> None:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            entry = x[i, j]
            grown = scale * _exp(entry * entry - shift)
            x[i, j] = entry * grown
            d[i, j] *= grown * (1.0 + 2.0 * (entry * entry))
