"""The table of merged rows, compiled: one pass to see which keys occur, one to number the rows.

What it computes is said by its twin in `optiframe_hodgerank.graph.merging`; the tests hold them to the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True))


@_compile
def merge_signs(
    items: int, left: NDArray[np.int64], right: NDArray[np.int64], margin: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Merge rows whose margins are -1, 0 or 1.

    Gives the sorted keys ``(low * items + high) * 3 + y + 1``, how many rows each has, the key's
    place for each row, and whether the row was turned. Memory: 8 bytes a possible key.
    """
    place = np.zeros(items * items * 3, dtype=np.int64)
    inverse = np.empty(len(left), dtype=np.int64)
    flipped = np.empty(len(left), dtype=np.bool_)
    for row in range(len(left)):
        turned = left[row] > right[row]
        low, high = (right[row], left[row]) if turned else (left[row], right[row])
        y = np.int64(-margin[row] if turned else margin[row])
        key = (low * items + high) * 3 + y + 1
        flipped[row], inverse[row] = turned, key
        place[key] += 1
    found = 0
    for key in range(len(place)):
        if place[key] > 0:
            found += 1
    keys, count = np.empty(found, dtype=np.int64), np.empty(found, dtype=np.int64)
    found = 0
    for key in range(len(place)):
        if place[key] > 0:
            keys[found], count[found] = key, place[key]
            place[key] = found
            found += 1
    for row in range(len(left)):
        inverse[row] = place[inverse[row]]
    return keys, count, inverse, flipped
