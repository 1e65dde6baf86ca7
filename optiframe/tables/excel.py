"""Tables in Excel workbooks (.xlsx), read by openpyxl: the first sheet, with its header in the first row."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from optiframe.errors import InvalidInput, require
from optiframe.tables.columns import Column, as_column

SUFFIXES = (".xlsx", ".xlsm")
_LOOKED_AT = 20  # rows, for the names alone
_OTHERS = (".xls", ".ods", ".numbers")


def is_workbook(path: Path) -> bool:
    """Whether the name says that this is a workbook; `InvalidInput` for the kinds that are not read."""
    suffix = path.suffix.lower()
    if suffix in _OTHERS:
        raise InvalidInput(f"{path.name}: files {suffix} are not read; save the sheet as .xlsx or as CSV")
    return suffix in SUFFIXES


def read_excel(path: Path) -> tuple[dict[str, Column], list[int]]:
    """Columns of the first sheet, and the row of the sheet each comes from; blank rows are left out.

    A formula counts by the value that the spreadsheet saved with it.

    Raises
    ------
    InvalidInput
        For a file that is no workbook, an empty sheet, and columns without a name or with the same.
    """
    names, rows, lines = _sheet(path)
    columns: dict[str, Column] = {
        name: as_column([row[at] for row in rows]) for at, name in enumerate(names) if name
    }
    return columns, lines


def excel_header(path: Path) -> list[str]:
    """Names of the columns of the first sheet; none where they cannot be read (reading it says why)."""
    try:
        return [name for name in _sheet(path, rows=_LOOKED_AT)[0] if name]
    except InvalidInput:
        return []


def _sheet(path: Path, rows: int | None = None) -> tuple[list[str], list[tuple[Any, ...]], list[int]]:
    """Names, rows and their numbers in the sheet; of the first so many rows."""
    openpyxl = require("openpyxl", "excel")
    if not path.is_file():
        raise InvalidInput(f"no file {path}")
    try:
        book = openpyxl.load_workbook(os.fspath(path), read_only=True, data_only=True)
    except Exception as error:  # of zipfile, of XML or of openpyxl: whatever a broken file leads to
        raise InvalidInput(f"{path.name} is not a readable Excel workbook ({error})") from None
    try:
        sheet = book.worksheets[0] if book.worksheets else None
        cells = (
            [] if sheet is None else [tuple(row) for row in sheet.iter_rows(max_row=rows, values_only=True)]
        )
    finally:
        book.close()
    start = next((at for at, row in enumerate(cells) if not _blank(row)), None)
    if start is None:
        raise InvalidInput(f"{path.name}: the first sheet is empty; it needs a header row")
    width = max(map(len, cells))
    names = ["" if cell is None else str(cell).strip() for cell in _padded(cells[start], width)]
    filled = [(at, row) for at, row in enumerate(cells) if at > start and not _blank(row)]
    found = [_padded(row, width) for _, row in filled]
    _refuse_names(path, names, found, [at + 1 for at, _ in filled])
    return names, found, [at + 1 for at, _ in filled]


def _refuse_names(path: Path, names: list[str], rows: list[tuple[Any, ...]], lines: list[int]) -> None:
    """Raise `InvalidInput` for values in a column without a name, and for a name that occurs twice."""
    for at in (at for at, name in enumerate(names) if not name):
        filled = next((line for row, line in zip(rows, lines, strict=True) if row[at] is not None), None)
        if filled is not None:
            raise InvalidInput(
                f"{path.name} row {filled}: column {at + 1} has a value and no name; the first row must name "
                "the columns: delete what stands above it, or name the column"
            )
    doubled = sorted({name for name in names if name and names.count(name) > 1})
    if doubled:
        raise InvalidInput(f"{path.name} row 1: column {', '.join(map(repr, doubled))} occurs twice")


def _padded(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    return (*(cell.strip() if isinstance(cell, str) else cell for cell in row), *[None] * (width - len(row)))


def _blank(row: tuple[Any, ...]) -> bool:
    return all(cell is None or (isinstance(cell, str) and not cell.strip()) for cell in row)
