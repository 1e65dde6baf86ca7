"""The compiled step of linearized Bregman iteration; imported for big inputs only.

The first use on a machine compiles for about a second and keeps the result on disk. Its twin
in `optiframe_hodgerank.solvers.lbi_parallel` says what the loop computes, and the tests hold both to
the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

Codes = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])
_compile = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True))


@_compile
def bregman_block(  # noqa: PLR0917  # compiled code is called by position
    left: Codes,
    right: Codes,
    margin: Array,
    weight: Array,
    scores: Array,
    dual: Array,
    outliers: Array,
    after: Array,
    dt: float,
    kappa: float,
    into: Array,
) -> float:
    """One step of Algorithm 4 on a block of rows, (16a) to (16d); gives the largest residual."""
    into[:] = 0.0
    largest = 0.0
    for e in range(len(margin)):
        i, j = left[e], right[e]
        rest = margin[e] - (scores[i] - scores[j]) - outliers[e]
        z = dual[e] + dt * rest
        dual[e] = z
        after[e] = kappa * (z - min(max(z, -1.0), 1.0))
        largest = max(largest, abs(rest))
        pull = weight[e] * rest
        into[i] += pull
        into[j] -= pull
    return largest
