"""Tables in Excel workbooks (.xlsx), by openpyxl: a sheet with its header in the first row.

It is the first visible one, or the one that a path such as ``plan.xlsx#Bounds`` names.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence, Set
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from optiframe.errors import InvalidInput, nearest, require
from optiframe.records.fields import check_is_file
from optiframe.tables.columns import Column, as_column, days, refuse_doubled
from optiframe.tables.csv_cells import INTEGER, heading

SUFFIXES = (".xlsx", ".xlsm")
_LOOKED_AT = 20  # rows, for the names alone
_OTHERS = (".xls", ".ods", ".numbers")
_MOST_ROWS = 2**20  # of a sheet
_FIRST_YEAR = 1900  # of Excel's calendar, which has no time zones either
_MILLISECOND = 1000  # in microseconds; Excel keeps no finer times
_ROUNDED = 10**15  # Excel keeps 15 digits of a number
_NAMED = re.compile(r"(.+\.xls[xm])#(.+)", re.IGNORECASE | re.DOTALL)
_HIDDEN = re.compile(rb'<row\b[^>]*\bhidden="(?:1|true)"')


def workbook(path: Path) -> tuple[Path, str]:
    """The file that a path means, and the sheet it names after a `#`; any other path, and no sheet."""
    named = _NAMED.fullmatch(str(path))
    return (path, "") if named is None or path.is_file() else (Path(named[1]), named[2])


def is_workbook(path: Path) -> bool:
    """Whether the name says that this is a workbook; `InvalidInput` for the kinds that are not read."""
    suffix = workbook(path)[0].suffix.lower()
    if suffix in _OTHERS:
        raise InvalidInput(f"{path.name}: files {suffix} are not read; save the sheet as .xlsx or as CSV")
    return suffix in SUFFIXES


def read_excel(path: Path) -> tuple[dict[str, Column], list[int], tuple[str, ...]]:
    """Columns of the sheet, the row of the sheet that each value comes from, and what to know of it.

    A formula counts by the value that the spreadsheet saved with it. Blank rows are left out. Where all text
    in a column is whole numbers, plainly written, it counts as numbers, as in CSV files: spreadsheets keep
    some numbers as text. Dates are `datetime.date`, or `datetime.datetime` where a time in the column is not
    midnight.

    Raises
    ------
    InvalidInput
        For a file that is no workbook, an empty sheet, columns without a name or with the same, and formulas
        without a saved value.
    """
    names, rows, lines, notes = _sheet(path)
    columns: dict[str, Column] = {
        name: as_column(days(_numbers_in_text([row[at] for row in rows])))
        for at, name in enumerate(names)
        if name
    }
    return columns, lines, notes


def excel_header(path: Path) -> list[str]:
    """Names of the columns of the sheet; none where they cannot be read (reading it says why)."""
    try:
        return [name for name in _sheet(path, rows=_LOOKED_AT)[0] if name]
    except InvalidInput:
        return []


def fits_a_sheet(columns: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a sheet has rows for all values and the names."""
    return all(len(values) < _MOST_ROWS for values in columns.values())


def write_excel(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Columns as the only sheet of a workbook; `InvalidInput` for more rows than one has.

    Infinity, whole numbers beyond 15 digits and times finer than a millisecond become text, nan an empty
    cell, and control characters, which Excel refuses, the sign for what cannot be shown.
    """
    openpyxl = require("openpyxl", "excel")
    if not fits_a_sheet(columns):
        raise InvalidInput(f"a sheet of Excel has no more than {_MOST_ROWS:,} rows; write CSV or Parquet")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in chain([columns], zip(*columns.values(), strict=True)):
        sheet.append([_excel_cell(sheet, value) for value in row])
    book.save(os.fspath(path))


def _excel_cell(sheet: Any, value: Any) -> Any:
    """What Excel shows as the value: text stays text, even where it begins as a formula does."""
    if value is None or (isinstance(value, float | date) and value != value):  # noqa: PLR0124  # nan, NaT
        return None
    if isinstance(value, date) and _in_calendar(value):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) < _ROUNDED):
        return value
    text = require("openpyxl.cell.cell", "excel").ILLEGAL_CHARACTERS_RE.sub("\ufffd", str(value))
    cell = require("openpyxl.cell", "excel").WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    return cell


def _in_calendar(value: date) -> bool:
    """Whether Excel keeps all of a date or time."""
    lost = isinstance(value, datetime) and (
        value.tzinfo or value.microsecond % _MILLISECOND or getattr(value, "nanosecond", 0)
    )
    return value.year >= _FIRST_YEAR and not lost


def _sheet(
    path: Path, rows: int | None = None
) -> tuple[list[str], list[tuple[Any, ...]], list[int], tuple[str, ...]]:
    """Names, rows, their numbers in the sheet, and what to know of the sheet; of the first so many rows."""
    book = _open(path)
    try:
        seen = _sheets(path, book)
        cells = [] if not seen else [tuple(row) for row in seen[0].iter_rows(max_row=rows, values_only=True)]
        notes = () if rows or not seen else _notes(path, seen)
    finally:
        book.close()
    start = next((at for at, row in enumerate(cells) if not _blank(row)), None)
    if start is None:
        which = "the sheet" if workbook(path)[1] else "the first sheet"
        raise InvalidInput(f"{path.name}: {which} is empty; it needs a header row")
    width = max(map(len, cells))
    names = ["" if cell is None else heading(str(cell)) for cell in days(list(_padded(cells[start], width)))]
    filled = [(at, row) for at, row in enumerate(cells) if at > start and not _blank(row)]
    found, lines = [_padded(row, width) for _, row in filled], [at + 1 for at, _ in filled]
    _refuse_names(path, names, found, lines)
    gaps = {(line, at) for line, row in zip(lines, found, strict=True) for at in _gaps(row) if names[at]}
    if gaps and rows is None:
        _refuse_formulas(path, seen[0].title, names, gaps)
    return names, found, lines, notes


def _sheets(path: Path, book: Any) -> list[Any]:
    """The sheet that is read, and where the path names none the visible ones after it."""
    _, name = workbook(path)
    if not name:
        return [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    found = [sheet for sheet in book.worksheets if sheet.title == name]
    if not found:
        names = [sheet.title for sheet in book.worksheets]
        raise InvalidInput(
            f"{path.name}: there is no sheet {name!r} (sheets: {', '.join(names)}){nearest(name, names)}"
        )
    return found


def _open(path: Path, *, values: bool = True) -> Any:
    """The workbook, for reading row by row: the saved values, or the formulas."""
    openpyxl = require("openpyxl", "excel")
    path = workbook(path)[0]
    check_is_file(path)
    try:
        return openpyxl.load_workbook(os.fspath(path), read_only=True, data_only=values)
    except Exception as error:  # of zipfile, of XML or of openpyxl: whatever a broken file leads to
        raise InvalidInput(f"{path.name} is not a readable Excel workbook ({error})") from None


def merged_words(path: Path) -> str:
    """What to know of an empty cell where the sheet has merged ones; nothing where it has none."""
    book = _open(path)
    try:
        seen = _sheets(path, book)
        if not seen or b"<mergeCell " not in _source(seen[0]):
            return ""
    finally:
        book.close()
    return "; merged cells hold a value in the first row only: unmerge them and fill it down"


def _source(sheet: Any) -> bytes:
    """The sheet's XML: openpyxl tells neither of hidden rows nor of merged cells when it reads row by row."""
    with sheet._get_source() as source:
        return bytes(source.read())


def _notes(path: Path, sheets: Sequence[Any]) -> tuple[str, ...]:
    """What a reader of this sheet does not see: that there are others, and rows that are hidden."""
    found = []
    if len(sheets) > 1:
        others = ", ".join(repr(sheet.title) for sheet in sheets[1:])
        found.append(
            f"{path.name}: only the first sheet, {sheets[0].title!r}, was read, and not {others}; "
            f"name another as {path.name}#{sheets[1].title}"
        )
    hidden = len(_HIDDEN.findall(_source(sheets[0])))
    if hidden:
        rows = "1 hidden row was" if hidden == 1 else f"{hidden} hidden rows were"
        found.append(f"{path.name}: {rows} read like all others; delete rows that should not count")
    return tuple(found)


def _refuse_formulas(path: Path, sheet: str, names: list[str], gaps: Set[tuple[int, int]]) -> None:
    """Raise `InvalidInput` where one of these empty cells (row from 1, column) was never calculated."""
    formulas, values = _open(path, values=False), _open(path)
    try:
        pairs = zip(formulas[sheet].iter_rows(), values[sheet].iter_rows(), strict=False)
        for line, (written, saved) in enumerate(pairs, start=1):
            for at, (cell, value) in enumerate(zip(written, saved, strict=False)):
                # A formula that was calculated to an empty text has the type of text.
                if (line, at) in gaps and cell.data_type == "f" and value.data_type != "str":
                    raise InvalidInput(
                        f"{path.name} row {line}: {names[at]} is a formula without a saved result; open the "
                        "file in a spreadsheet program and save it, or write the value itself"
                    )
    finally:
        formulas.close()
        values.close()


def _refuse_names(path: Path, names: list[str], rows: list[tuple[Any, ...]], lines: list[int]) -> None:
    """Raise `InvalidInput` for values in a column without a name, and for a name that occurs twice."""
    for at in (at for at, name in enumerate(names) if not name):
        filled = next((line for row, line in zip(rows, lines, strict=True) if row[at] is not None), None)
        if filled is not None:
            raise InvalidInput(
                f"{path.name} row {filled}: column {at + 1} has a value and no name; the first row must name "
                "the columns: delete what stands above it, or name the column"
            )
    refuse_doubled(names, f"{path.name} row 1")


def _padded(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    return (*(cell.strip() if isinstance(cell, str) else cell for cell in row), *[None] * (width - len(row)))


def _blank(row: tuple[Any, ...]) -> bool:
    return all(cell is None or (isinstance(cell, str) and not cell.strip()) for cell in row)


def _gaps(row: tuple[Any, ...]) -> list[int]:
    return [at for at, cell in enumerate(row) if cell is None or cell == ""]


def _numbers_in_text(cells: list[Any]) -> list[Any]:
    """The cells, with text as whole numbers where all text in the column is plain whole numbers."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell]
    if not texts or not all(map(INTEGER.fullmatch, texts)):
        return cells
    return [int(cell) if isinstance(cell, str) and cell else cell for cell in cells]
