"""The compiled pass of a Hessian product in single precision; imported for big inputs only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has none
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

Single = NDArray[np.float32]

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast(
    "Callable[[F], F]", numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
)
_instruction = cast("Callable[[Callable[..., Any]], Callable[[Any], Any]]", intrinsic)

# A number without a type of its own would turn what it meets into double precision.
_ZERO, _HALF, _ONE, _TWO = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(2.0)
_LOG2_E = np.float32(1.4426950408889634)
# ln 2 in two parts, the first with so few digits that its product with a whole number is exact.
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUND = np.float32(12582912.0)  # 1.5 * 2^23: adding it leaves the nearest whole number in the last bits
_LEAST = np.float32(-87.0)  # below, exp(x) is no ordinary number of single precision
_THIRD, _FOURTH = np.float32(1 / 6), np.float32(1 / 24)
_FIFTH, _SIXTH = np.float32(1 / 120), np.float32(1 / 720)


@_instruction
def _power(typing: Any, shifted: Any) -> Any:
    """2^k for a float whose last bits are the whole number k."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = ir.IntType(32)
        bits = builder.add(builder.bitcast(arguments[0], whole), whole(127))
        return builder.bitcast(builder.shl(bits, whole(23)), ir.FloatType())

    return types.float32(types.float32), generate


@_compile
def bend_rows(  # noqa: PLR0917  # compiled code is called by position
    x: Single,
    d: Single,
    shift: Any,
    growth: Any,
    pointer: NDArray[np.int64],
    winner: NDArray[np.uint32],
    loser: NDArray[np.uint32],
    slope: Single,
    bend: Single,
) -> None:
    """`optiframe_manifold.kernels.plain.bend_rows`, the scale being part of the shift."""
    longest = 0
    for i in range(x.shape[0]):
        longest = max(longest, pointer[i + 1] - pointer[i])
    turns = np.empty(longest, dtype=np.float32)
    for i in range(x.shape[0]):
        begin, end = pointer[i], pointer[i + 1]
        entries, change = x[i], d[i]
        first, second = winner[begin:end], loser[begin:end]
        slopes, bends, turn = slope[begin:end], bend[begin:end], turns[: end - begin]
        for e in range(len(first)):
            turn[e] = bends[e] * (change[first[e]] - change[second[e]])
        for j in range(len(entries)):
            entry, along = entries[j], change[j]
            # exp(entry^2 - shift): see `optiframe.fast_math.exp`; the term after the last is 1e-7.
            z = entry * entry - shift
            z = _LEAST if z < _LEAST else z
            shifted = z * _LOG2_E + _ROUND
            whole = shifted - _ROUND
            r = (z - whole * _LN2_HIGH) - whole * _LN2_LOW
            p = _SIXTH * r + _FIFTH
            p = p * r + _FOURTH
            p = p * r + _THIRD
            p = p * r + _HALF
            p = p * r + _ONE
            p = p * r + _ONE
            grown = p * _power(shifted)
            entries[j] = entry * grown
            change[j] = grown * (along + entry * (_TWO * entry * along - growth))
        for e in range(len(first)):
            j, k = first[e], second[e]
            change[j] += turn[e]
            change[k] -= turn[e]
            entries[j] += slopes[e]
            entries[k] -= slopes[e]
