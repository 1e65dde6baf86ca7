"""Compiled passes over a block of rows; imported for big inputs only.

The first use on a machine compiles for about two seconds and keeps the result on disk. What
each function computes is said by its twin in `optiframe_comrade.local.sweep`; the tests hold the two
to the same numbers. Products of a multiply and an add may be fused (``contract``), which only
makes them more exact; sums run in lanes of our own, so that the compiler need not reorder them.
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

_LANES = 512  # rows summed side by side: 4 KB, a part of the first cache


@_compile
def logistic(predictions: Array, target: Array, slopes: Array, roots: Array) -> float:
    """Sum of logistic losses; their derivatives and the roots of their second derivatives."""
    lanes = np.zeros(_LANES)
    for first in range(0, len(predictions), _LANES):
        # Slices of their own, and no condition inside the loop: so it is vectorized.
        last = min(first + _LANES, len(predictions))
        z, y, s, r = predictions[first:last], target[first:last], slopes[first:last], roots[first:last]
        for j in range(len(z)):
            margin = y[j] * z[j]
            t = exp(-abs(margin))
            share = 1.0 / (1.0 + t)
            s[j] = -y[j] * (share if margin < 0.0 else t * share)
            r[j] = np.sqrt(t) * share
            lanes[j] += 0.5 * (abs(margin) - margin) + log1p(t)
    return float(lanes.sum())


@_compile
def scale(block: Array, roots: Array, into: NDArray[np.float32]) -> None:
    """Rows times numbers, rounded to single precision."""
    for i in range(block.shape[0]):
        root = roots[i]
        for j in range(block.shape[1]):
            into[i, j] = np.float32(root * block[i, j])
