"""exp and log1p for compiled loops, in steps that vectorize; imported by compiled modules only.

Calls to the C library keep a loop scalar. These are polynomials, inlined where they are used, and
several times faster in a loop over an array. Needs numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir  # type: ignore[import-untyped]  # it has none
from numba import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])
_instruction = cast("Callable[[Callable[..., Any]], Callable[[Any], Any]]", intrinsic)
_inline = cast("Callable[[F], F]", numba.njit(inline="always"))

_LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with so few digits that its product with a whole number is exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# 1.5 * 2^52: adding it leaves the nearest whole number in the last bits of the sum. A caller that
# lets the compiler reorder sums (fastmath "reassoc") might cancel it, and must not.
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
def exp(x: float) -> float:
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
def log1p(t: float) -> float:
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
