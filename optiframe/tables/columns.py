"""Columns of tables as arrays: their kinds, the codes of ids, and what is missing."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, time
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.ids import listed

# What spreadsheets write where a formula fails.
ERROR_WORDS = frozenset(["#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"])
# How programs such as pandas and R write that there is no value; each as an id would be a silent mistake.
GAP_WORDS = ERROR_WORDS | {"NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "None"}
_CROWDED = 4  # numbers in the span of an id column for each row: 9 bytes each, as much as sorting takes

Columns = Mapping[str, Any]
"""A table as column name -> sequence of values, all of one length."""


@dataclass(frozen=True)
class Coded:
    """A column of text as codes of its distinct values, which are sorted."""

    codes: NDArray[np.int32]
    ids: NDArray[Any]

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def values(self) -> NDArray[Any]:
        """The column itself, as an object array."""
        return self.ids[self.codes]


Column = NDArray[Any] | Coded
Coder: TypeAlias = Callable[[Any], Coded | None]
"""Codes of a pyarrow array of text without gaps, by a quicker way than Arrow's; None: take Arrow's."""


def encode(values: NDArray[Any], title: str = "ids") -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes 0..k-1 for each value and the k ids they stand for.

    Ids are sorted where they can be compared and in order of appearance otherwise, so
    that the codes do not depend on the order of rows for ordinary ids.
    """
    if values.dtype == np.int64 and len(values):
        least = int(values.min())
        span = int(values.max()) - least + 1
        if span <= _CROWDED * len(values):  # a table of all numbers between is quicker than sorting
            seen = np.zeros(span, dtype=bool)
            seen[values - least] = True
            return (np.cumsum(seen) - 1)[values - least], np.flatnonzero(seen) + least
    if values.dtype != object:
        ids, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), ids
    items = values.tolist()
    try:
        table = {value: code for code, value in enumerate(dict.fromkeys(items))}
        codes = np.fromiter(map(table.__getitem__, items), np.int64, len(items))
    except TypeError as error:
        raise InvalidInput(f"{title}: an id must be hashable, such as text or a number ({error})") from None
    found = list(table)
    try:
        order = sorted(range(len(found)), key=found.__getitem__)
    except TypeError:
        order = list(range(len(found)))
    ids = np.empty(len(found), dtype=object)
    ids[:] = [found[i] for i in order]
    rank = np.empty(len(found), dtype=np.int64)
    rank[order] = np.arange(len(found))
    return rank[codes], ids


def as_array(column: Column) -> NDArray[Any]:
    """The column itself, whatever it is kept as."""
    return column.values if isinstance(column, Coded) else column


def absent(column: Column) -> NDArray[np.bool_]:
    """`missing` of a column; of text as codes, where blank text and words for a gap are, by its ids."""
    if not isinstance(column, Coded):
        return missing(column)
    texts = column.ids.tolist()  # sorted, so that one without any letter is the first
    words = [at for at in (place(texts, word) for word in GAP_WORDS) if at is not None]
    if not words and texts[:1] != [""] and not any(map(str.isspace, texts)):
        return np.zeros(len(column), dtype=bool)
    blank = np.array([not text or text.isspace() for text in texts], dtype=bool)
    blank[words] = True
    return np.asarray(blank[column.codes])


def place(texts: Sequence[str] | NDArray[Any], wanted: str) -> int | None:
    """Where a text is among sorted ones; None where it is not."""
    at = bisect_left(texts, wanted)
    return at if at < len(texts) and texts[at] == wanted else None


def refuse_doubled(names: Iterable[str], where: str) -> None:
    """Raise `InvalidInput` where columns have the same name; empty names may."""
    doubled = sorted(name for name, times in Counter(names).items() if name and times > 1)
    if doubled:
        several = len(doubled) > 1
        shown = listed([*map(repr, doubled)])
        raise InvalidInput(
            f"{where}: column{'s' if several else ''} {shown} {'occur' if several else 'occurs'} twice"
        )


def given_column(values: Any, title: str) -> NDArray[Any]:
    """A column out of a mapping: anything with an order and a value for each row."""
    flat = not isinstance(values, np.ndarray) or values.ndim == 1
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable) or not flat:
        what = f"an array of {values.ndim} dimensions" if not flat else f"a {type(values).__name__}"
        raise InvalidInput(f"{title} is {what}; give a list or vector with a value for each row")
    # A masked array becomes a list so that what is masked is missing, not what lies under the mask.
    return as_column(values.tolist() if isinstance(values, np.ma.MaskedArray) else values)


def as_column(values: Any) -> NDArray[Any]:
    """One of int64, float64, bool or object; text and mixtures are object."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        array = values
    else:
        items = list(values)
        kinds = {type(v) for v in items}
        if kinds <= {int} and all(-(2**63) <= v < 2**63 for v in items):
            return np.array(items, dtype=np.int64)
        numbers = bool(kinds) and kinds <= {int, float}
        # Whole numbers beyond 2^53 would run together as floats: they stay as they are.
        if numbers and all(isinstance(v, float) or abs(v) <= 2**53 for v in items):
            return np.array(items, dtype=np.float64)
        if kinds == {bool}:
            return np.array(items, dtype=bool)
        array = np.empty(len(items), dtype=object)
        array[:] = items
    if array.dtype.kind in "iu" and not (array.dtype == np.uint64 and (array >= 2**63).any()):
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f":
        return array.astype(np.float64, copy=False)
    return array if array.dtype.kind == "b" else array.astype(object)


def days(cells: list[Any]) -> list[Any]:
    """The cells, with days in place of the midnights that spreadsheets and pandas make of them.

    Only where every time in the column is one; elsewhere midnight is a time as others are.
    """
    times = [cell for cell in cells if isinstance(cell, datetime) and not _is_missing(cell)]
    if not times or any(
        cell.time() != time() or cell.tzinfo or getattr(cell, "nanosecond", 0)  # pandas' alone have these
        for cell in times
    ):
        return cells
    return [cell.date() if isinstance(cell, datetime) and not _is_missing(cell) else cell for cell in cells]


def missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are absent: nan, None, blank text, `GAP_WORDS`, and the like."""
    if column.dtype == np.float64:
        return np.asarray(np.isnan(column), dtype=bool)
    if column.dtype != object:
        return np.zeros(len(column), dtype=bool)
    values = column.tolist()
    try:
        absent = {value for value in set(values) if _is_missing(value)}  # each value is asked once
    except TypeError:  # something that cannot be hashed; whoever uses the column as ids will say so
        return np.array([_is_missing(value) for value in values], dtype=bool)
    if not absent:
        return np.zeros(len(column), dtype=bool)
    return np.array([value in absent for value in values], dtype=bool)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value in GAP_WORDS or not value.strip()
    if value is None:
        return True
    if isinstance(value, int):
        return False
    try:
        return bool(value != value)  # noqa: PLR0124  # nan and pandas' NaT differ from themselves
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # pandas' NA refuses to be true or false
