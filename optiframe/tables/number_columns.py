"""Columns of numbers, of whichever table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.read import Table, missing

_COMMA = re.compile(r"^[+-]?\d*,\d+$")


def numbers(table: Table, column: str, above: float = -np.inf) -> Array:
    """A column of finite numbers; text from a file is read as numbers.

    Raises
    ------
    InvalidInput
        For a value that is no number, not finite or not above `above`, naming the rows.
    """
    values = table[column]
    if values.dtype == object:
        found = np.array([as_number(value) for value in values.tolist()])
    else:
        found = np.full(len(values), np.nan) if values.dtype == bool else values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > above)))
    if len(wrong):
        kind = "a positive number" if above == 0 else "a finite number"
        if _COMMA.match(str(values[int(wrong[0])])):
            kind += ", and decimals are written with a point"
        more = f" ({len(wrong)} such rows: {table.places(wrong)})" if len(wrong) > 1 else ""
        shown = values[int(wrong[0])]
        raise InvalidInput(
            f"{table.title} {table.place(int(wrong[0]))}: the {column} is "
            f"{'empty' if missing(values[wrong[:1]])[0] else shown}; it must be {kind}{more}"
        )
    return found


def as_number(value: Any) -> float:
    """A cell as a number; nan where it is none, as true and false are."""
    try:
        return float("nan") if value is None or isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        return float("nan")
