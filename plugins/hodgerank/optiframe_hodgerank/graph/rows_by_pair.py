"""The rows of a comparison graph sorted by pair of items, as passes over them read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.merging import sorted_keys

Codes = NDArray[np.int64]

_WORTH_COMPILING = 50_000
"""Rows from which the compiled passes are used. They save 1 ms of 1.3 for 100,000 rows, and a path takes
hundreds; importing the compiler takes half a second, compiling once on a machine one or two."""


@dataclass(frozen=True, eq=False)
class RowsByPair:
    """Rows by pair, and pairs by item; memory is 24 bytes a row and 20 a pair.

    Parameters
    ----------
    first_pair
        Pairs ``first_pair[i]`` to ``first_pair[i + 1]`` have item i on the left, shape (items + 1,).
    other
        The item on the right of each pair, shape (pairs,).
    first_row
        Rows ``first_row[p]`` to ``first_row[p + 1]`` are of pair p, shape (pairs + 1,).
    margin, weight
        Of each row, in this order, shape (rows,).
    whole
        Total weight of the rows of each pair, shape (pairs,).
    """

    first_pair: NDArray[np.int64]
    other: NDArray[np.int32]
    first_row: NDArray[np.int64]
    margin: Array
    weight: Array
    whole: Array

    @classmethod
    def of(cls, items: int, left: Codes, right: Codes, margin: Array, weight: Array) -> RowsByPair:
        """Those of a graph with these rows."""
        key, order = sorted_keys(left * items + right, items**2)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        each = order if len(first) == len(order) else order[first]
        sorted_weight = weight[order]
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(left[each], minlength=items))]),
            right[each].astype(np.int32),
            np.append(first, len(key)),
            margin[order],
            sorted_weight,
            sorted_weight if len(first) == len(order) else np.add.reduceat(sorted_weight, first),
        )


def worth_compiling(rows: int) -> bool:
    """Whether so many rows are worth the time that importing the compiler takes."""
    return rows >= _WORTH_COMPILING
