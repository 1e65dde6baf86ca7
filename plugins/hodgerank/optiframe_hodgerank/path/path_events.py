"""Which rows became outliers along a path, in their order: a table that grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

_ENTRY = np.dtype([("row", np.int64), ("knot", np.int64), ("strength", np.float64), ("sign", np.int8)])
_FIRST = 16  # entries there is room for at first; full room is doubled


class PathEvents:
    """Rows, and of each the knot at which it entered, its sign and strength; 25 to 50 bytes an entry."""

    def __init__(self) -> None:
        self._room = np.empty(_FIRST, dtype=_ENTRY)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, row: int, knot: int, sign: float, strength: float) -> None:
        """Add one row."""
        if self._count == len(self._room):
            self._enlarge(self._count + 1)
        self._room[self._count] = row, knot, strength, (sign > 0) - (sign < 0)
        self._count += 1

    def add_all(self, rows: NDArray[np.int64], knot: int, sign: Array, strength: Array) -> None:
        """Add rows that enter at one knot, in their order."""
        end = self._count + len(rows)
        if end > len(self._room):
            self._enlarge(end)
        new = self._room[self._count : end]
        new["row"], new["knot"], new["strength"], new["sign"] = rows, knot, strength, np.sign(sign)
        self._count = end

    def _enlarge(self, least: int) -> None:
        larger = np.empty(max(least, 2 * len(self._room)), dtype=_ENTRY)
        larger[: self._count] = self._room[: self._count]
        self._room = larger

    @property
    def row(self) -> NDArray[np.int64]:
        """Shape (entries,)."""
        return self._room["row"][: self._count].copy()

    @property
    def knot(self) -> NDArray[np.int64]:
        """Index of the knot at which each entered, shape (entries,)."""
        return self._room["knot"][: self._count].copy()

    @property
    def sign(self) -> NDArray[np.int64]:
        """Sign of the outlier each entered as, shape (entries,)."""
        return self._room["sign"][: self._count].astype(np.int64)

    @property
    def strength(self) -> Array:
        """Lambda, or 1/t, at which each entered, shape (entries,)."""
        return self._room["strength"][: self._count].copy()
