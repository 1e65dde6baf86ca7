"""Columns of numbers, of whichever table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.read import Table, missing

POINTED = re.compile(r"-?[1-9]\d{0,2}\.\d{3}")
"""A number with three decimals, or a thousand and more: nobody can tell."""
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([,.' \u00a0\u202f]\d{3})+([.,]\d+)?")
_COMMA = re.compile(r"[+-]?(\d*|[1-9]\d{0,2}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
_COMMAS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DRESSED = re.compile(r"\D{0,6}\d[\d.,' \u00a0\u202f]*\D{0,6}")


def numbers(table: Table, column: str, above: float = -np.inf) -> Array:
    """A column of finite numbers; text from a file is read as numbers, by the signs that its cells agree on.

    Raises
    ------
    InvalidInput
        For a value that is no number, not finite or not above `above`, naming the rows.
    """
    values = table[column]
    if values.dtype == object:
        cells = values.tolist()
        meaning = commas_mean(cells)
        if meaning:
            gone, decimal = (".", ",") if meaning == "decimal points" else (",", ".")
            cells = [
                cell.replace(gone, "").replace(decimal, ".") if isinstance(cell, str) else cell
                for cell in cells
            ]
        found = np.array([as_number(value) for value in cells])
    else:
        found = np.full(len(values), np.nan) if values.dtype == bool else values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > above)))
    if len(wrong):
        kind = "a positive number" if above == 0 else "a finite number"
        kind += _advice(values[int(wrong[0])])
        more = f" ({len(wrong)} such rows: {table.places(wrong)})" if len(wrong) > 1 else ""
        shown = values[int(wrong[0])]
        raise InvalidInput(
            f"{table.title} {table.place(int(wrong[0]))}: the {column} is "
            f"{'empty' if missing(values[wrong[:1]])[0] else shown}; it must be {kind}{more}"
        )
    return found


def commas_mean(cells: Sequence[Any]) -> Literal["decimal points", "signs between thousands", ""]:
    """What all commas in a column of text are, in words; nothing where there are none or it is not clear."""
    if _decimals(cells):
        return "decimal points"
    return "signs between thousands" if _thousands(cells) else ""


def _decimals(cells: Sequence[Any]) -> bool:
    """Whether a column writes decimals with a comma throughout, and most commas cannot mean thousands.

    One such cell alone is more likely a slip, and so are a few of them beside many such as 1,250. Points may
    separate thousands where a cell has both: beside 1.234,50 a 2.500 is no two and a half.
    """
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    with_comma = [text for text in texts if "," in text]
    with_point = [text for text in texts if "." in text]
    grouped = any("." in text for text in with_comma)
    if not all(map(_COMMA.fullmatch, with_comma)) or any(map(_has_fraction, cells)):
        return False
    if not all(grouped and _POINTS.fullmatch(text) for text in with_point):
        return False
    decimals = len(with_comma) - (0 if grouped else sum(map(bool, map(_THOUSANDS.fullmatch, with_comma))))
    return decimals > max(1, len(with_comma) // 2)


def _thousands(cells: Sequence[Any]) -> bool:
    """Whether commas separate thousands throughout a column, as a cell such as 1,234.50 shows."""
    with_comma = [cell.strip() for cell in cells if isinstance(cell, str) and "," in cell]
    return any("." in text for text in with_comma) and all(map(_COMMAS.fullmatch, with_comma))


def _has_fraction(cell: Any) -> bool:
    return isinstance(cell, float) and cell % 1 > 0


def _advice(value: Any) -> str:
    """How to write text that means a number; nothing where it seems to mean none."""
    if not isinstance(value, str):
        return ""
    text = value.strip()
    if _THOUSANDS.fullmatch(text):
        return ", written without separators of thousands, and decimals with a point, such as 1234.5"
    if _COMMA.fullmatch(text):
        return ", and decimals are written with a point"
    if _DRESSED.fullmatch(text):
        return ", written in digits alone, such as 1234.5: no currency, unit, percent sign or bracket"
    return ""


def as_number(value: Any) -> float:
    """A cell as a number; nan where it is none, as true and false are."""
    try:
        return float("nan") if value is None or isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        return float("nan")
