"""Equal comparisons become one weighted row, exactly.

Two comparisons of the same oriented pair with the same y have the same residual, the same
outlier variable and the same Bregman variable at every step of every method, so that one row
with the sum of their weights stands for both. Answers are expanded by `inverse` and `sign`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

T = TypeVar("T", bound=np.generic)

_CROWDED = 4
"""A table of all possible keys is used while it has at most so many times the rows (32 bytes a row);
beyond, the keys are sorted."""
_SIGNS = np.array([-1.0, 0.0, 1.0])  # y of labels: right won, a tie, left won
_WORTH_COMPILING = 1_000_000  # rows; with fewer the NumPy path takes less than 0.1 s
_WORTH_SAMPLING = 100_000  # rows; fewer are sorted in some 0.05 s, so that equal rows are always found
_SAMPLE, _DISTINCT = 10_000, 0.99
"""Of so many rows, a share of distinct y from which sorting would find hardly anything to merge
(each y would have to recur within its pair) and cost a microsecond a row."""
_LARGEST_KEY = 1 << 62  # keys beyond do not fit 64 bits
_SMALL_TABLE = 1 << 16  # keys of a table that costs nothing, whatever the number of rows


@dataclass(frozen=True, eq=False)
class Merged:
    """Unique rows with ``left < right``, and how the caller's rows are found among them.

    Parameters
    ----------
    left, right, margin, weight
        Shape (merged,), sorted by left, right, then margin (unless `merge` found that rows hardly
        repeat). `weight` is the sum of the weights.
    count
        How many of the caller's rows each stands for, shape (merged,).
    inverse
        The merged row of each of the caller's rows, shape (rows,).
    flipped
        Whether the caller's row has left and right the other way round, shape (rows,).
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    margin: Array
    weight: Array
    count: NDArray[np.int64]
    inverse: NDArray[np.int64]
    flipped: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.margin)

    @property
    def rows(self) -> int:
        """Number of the caller's rows."""
        return len(self.inverse)

    def expand(self, values: Array) -> Array:
        """Values that change sign with the orientation (margins, outliers), for the caller's rows."""
        found = values.copy() if self._one_each else values[self.inverse]
        np.negative(found, out=found, where=self.flipped)
        found += 0.0  # -0.0 becomes 0.0
        return found

    def expand_even(self, values: NDArray[T]) -> NDArray[T]:
        """Values that do not change sign (strength, place in an order), for the caller's rows.

        The array itself where nothing was merged.
        """
        return values if self._one_each else values[self.inverse]

    @cached_property
    def _one_each(self) -> bool:
        """Whether nothing was merged, and rows are in the caller's order."""
        return len(self) == self.rows and bool((self.inverse == np.arange(self.rows)).all())


def merge(
    items: int,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    margin: Array,
    weight: Array | None = None,
) -> Merged:
    """Merge rows of equal oriented pair and equal y.

    Many rows (100,000 or more) with real margins that hardly ever repeat are only oriented and
    stay one row each, in their order: the same problem, without two sorts.

    Parameters
    ----------
    items
        Number of items, n.
    left, right, margin, weight
        Codes of the items, y and weight of each row, shape (rows,); no weight counts 1.

    Notes
    -----
    Time is a few passes over the rows where y is -1, 0 or 1 and 3 n^2 at most four times the
    rows (10 million rows of 1,000 items: 0.2 s with numba, else 0.9 s), else that of two sorts.
    Memory: 60 bytes a row at its height, 17 of which are kept.
    """
    signs = _are_signs(margin)
    if signs and 3 * items * items <= _CROWDED * len(margin) and (compiled := _compiled_for(len(margin))):
        return _decoded(items, weight, compiled.merge_signs(items, left, right, margin))
    flipped = left > right
    low, high = np.minimum(left, right), np.maximum(left, right)
    oriented = np.where(flipped, -margin, margin) + 0.0  # -0.0 is the tie 0.0
    if not signs and _hardly_repeats(oriented):
        total = np.ones(len(margin)) if weight is None else weight.astype(np.float64)
        each = np.arange(len(margin))
        return Merged(low, high, oriented, total, np.ones_like(each), each, flipped)
    value, code = (
        (_SIGNS, oriented.astype(np.int64) + 1) if signs else np.unique(oriented, return_inverse=True)
    )
    pair = low * items + high
    known, span = None, items * items
    if span * len(value) > _LARGEST_KEY:
        known, pair = _unique(pair, span)
        span = len(known)
    unique, inverse = _unique(pair * len(value) + code, span * len(value))
    found, which = np.divmod(unique, len(value))
    first, second = np.divmod(found if known is None else known[found], items)
    count = np.bincount(inverse, minlength=len(unique))
    total = np.asarray(np.bincount(inverse, weight, len(unique)), dtype=np.float64)
    return Merged(first, second, value[which], total, count, inverse, flipped)


def _are_signs(y: Array) -> bool:
    """Whether every value is -1, 0 or 1, so that nothing needs to be sorted."""
    return bool(((y == 0.0) | (np.abs(y) == 1.0)).all())


def _hardly_repeats(y: Array) -> bool:
    """Whether rows are many and a sample of their y has next to no value twice."""
    if len(y) < _WORTH_SAMPLING:
        return False
    sample = y[:: len(y) // _SAMPLE]
    return len(np.unique(sample)) >= _DISTINCT * len(sample)


def _compiled_for(rows: int) -> ModuleType | None:
    """The compiled pass, where it pays; None for few rows and where numba is not installed."""
    return _compiled() if rows >= _WORTH_COMPILING else None


@cache
def _compiled() -> ModuleType | None:
    try:
        return import_module("optiframe_hodgerank.kernels.compiled_merging")
    except ImportError:  # not installed, or not for this version of NumPy
        return None


def _decoded(
    items: int,
    weight: Array | None,
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
) -> Merged:
    """What the compiled pass found, as merged rows."""
    key, count, inverse, flipped = found
    pair, sign = np.divmod(key, 3)
    left, right = np.divmod(pair, items)
    total = count.astype(np.float64)
    if weight is not None:
        total = np.asarray(np.bincount(inverse, weight, len(key)))
    return Merged(left, right, _SIGNS[sign], total, count, inverse, flipped)


def _unique(key: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sorted distinct keys within [0, span), and the place of each entry among them."""
    if span <= max(_CROWDED * len(key), _SMALL_TABLE):
        seen = np.zeros(span, dtype=bool)
        seen[key] = True
        return np.flatnonzero(seen), (np.cumsum(seen) - 1)[key]
    ordered, order = sorted_keys(key, span)
    fresh = np.diff(ordered, prepend=-1) > 0
    inverse = np.empty(len(key), dtype=np.int64)
    inverse[order] = np.cumsum(fresh) - 1
    return ordered[fresh], inverse


def sorted_keys(key: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys within [0, span) in their order, and where each was; equal keys stay in theirs.

    Where key and place fit one number together, that is sorted: several times faster than sorting
    places by their keys.
    """
    if bool((key[1:] >= key[:-1]).all()):
        return key, np.arange(len(key))
    bits = len(key).bit_length()
    if span << bits > _LARGEST_KEY:
        order = np.argsort(key, kind="stable")
        return key[order], order
    both = key << bits
    both |= np.arange(len(key))
    both.sort()
    return both >> bits, both & ((1 << bits) - 1)
