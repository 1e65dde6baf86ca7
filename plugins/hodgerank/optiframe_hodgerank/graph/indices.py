"""Indices as compiled loops read them fastest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """The same indices, none negative, as unsigned numbers, in the same memory.

    For signed ones numba looks at every access whether it counts from the end, which takes passes
    over the edges of a graph 1.4 to 1.7 times as long. Compiled code must not calculate with 64-bit
    ones: with a signed number they make a float.
    """
    return indices.view(np.uint64 if indices.dtype.itemsize == 8 else np.uint32)
