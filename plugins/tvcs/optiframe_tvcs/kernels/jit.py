"""The one way kernels are compiled here; imported only where numba is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np

Compiler = Callable[[Any], Any]
# Errors of arithmetic as in NumPy: a division by zero is inf, and no branch is spent on it.
compiled = cast("Compiler", numba.njit(cache=True, nogil=True, error_model="numpy"))
# What one kernel passes to another as a constant: for Python's own True or 0 numba would compile
# the other once more.
YES, NO = np.bool_(True), np.bool_(False)
# For passes that only estimate: sums may be reordered, so that they are vectorised. What is proved
# never depends on them.
estimating = cast(
    "Compiler",
    numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract", "arcp", "nnan"}
    ),
)
