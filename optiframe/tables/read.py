"""Tables: any data frame or file in, checked columns inside, the same kind out.

Files are CSV (UTF-8, a header line), with pyarrow Parquet, and with openpyxl Excel workbooks.
Frames are whatever narwhals knows (pandas, polars, pyarrow, ...), or a mapping of column name to values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from optiframe.errors import Complaints, InvalidInput, nearest
from optiframe.records.fields import resolve
from optiframe.tables.columns import (
    Coded,
    Coder,
    Column,
    absent,
    as_array,
    encode,
    given_column,
    missing,
    place,
)
from optiframe.tables.excel import is_workbook, merged_words, read_excel
from optiframe.tables.file_formats import header, read_csv, read_parquet
from optiframe.tables.frames import column_names, from_frame, with_index
from optiframe.tables.unused_columns import likely

__all__ = ["Coded", "Coder", "Column", "Table", "encode", "headings", "missing", "read_table"]

_SHOWN = 5  # rows named in a message before "and N more"
_NAMED = 20  # columns named so: a table may have thousands


@dataclass(frozen=True)
class Table:
    """Checked columns of equal length: int64, float64, bool or object arrays, nothing missing.

    `parts` are the columns as they were read: text out of a data frame comes as codes, and
    becomes an array when it is asked for (``table[name]``, or `columns` for all of them).
    `backend` is the data-frame library the table came from (None for files and mappings);
    `place(row)` says where a row is, for messages: what `cells` says, for those of a matrix, or a line of a
    file (of a workbook a row), else a number from `start`.
    `unused` are the names of its further columns; `notes` say what a file holds that is easily overlooked.
    """

    parts: dict[str, Column]
    title: str
    backend: str | None
    lines: Sequence[int] | None = None
    unused: tuple[str, ...] = ()
    start: int = 0
    notes: tuple[str, ...] = ()
    cells: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def __getitem__(self, name: str) -> NDArray[Any]:
        return as_array(self.parts[name])

    @cached_property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Every column as an array."""
        return {name: as_array(part) for name, part in self.parts.items()}

    def encoded(self, name: str, title: str) -> tuple[NDArray[np.integer[Any]], NDArray[Any]]:
        """Codes and ids of a column, as by `encode`; text out of a data frame has them already."""
        part = self.parts[name]
        return (part.codes, part.ids) if isinstance(part, Coded) else encode(part, title)

    def place(self, row: int) -> str:
        """`line 17` of a file, `row 17` of a workbook, or `row 16` of a frame."""
        if self.cells is not None:
            return self.cells[row]
        if self.lines is None:
            return f"row {self.start + row}"
        return f"{'row' if is_workbook(Path(self.title)) else 'line'} {self.lines[row]}"

    def places(self, rows: Iterable[int]) -> str:
        """The first few places, and how many more there are."""
        rows = list(rows)
        shown = ", ".join(self.place(int(row)) for row in rows[:_SHOWN])
        return shown if len(rows) <= _SHOWN else f"{shown} and {len(rows) - _SHOWN} more"


def read_table(
    value: Any,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    title: str,
    rename: Mapping[str, str] | None = None,
    lenient: Sequence[str] = (),
    coder: Coder | None = None,
    start: int = 0,
) -> Table:
    """Read a frame, a mapping of columns or a file into a checked table.

    Parameters
    ----------
    value
        A data frame, a mapping of column name to values, or the path of a CSV, Parquet or Excel file.
    required, optional
        Columns to take, by the names the problem uses; of further ones the table keeps the names (`unused`).
    title
        What to call the table in messages when it has no file name.
    rename
        The problem's column name -> the name it has in this table, which then must be there. An empty
        name: leave out this optional column.
    lenient
        Optional columns that need not be there even so, as in a further table of the same mapping.
    coder
        Asked first for the codes of a column of text out of a data frame.
    start
        The number of the first row, where a frame is a part of a larger one.

    Raises
    ------
    InvalidInput
        For a missing or unreadable file, a missing column (with the nearest), an empty
        table, a row that repeats the header, or missing values (with their rows, for all columns at once).
    """
    takes_names, rename = rename is not None, rename or {}
    names = {column: rename.get(column, column) for column in (*required, *optional)}
    lines: Sequence[int] | None = None
    backend: str | None = None
    notes: tuple[str, ...] = ()
    raw: dict[str, Column]
    if isinstance(value, str | Path):
        path = resolve(value)
        title = path.name
        if path.suffix.lower() == ".parquet":
            raw = from_frame(read_parquet(path), title, coder)[0]
        elif is_workbook(path):
            raw, lines, notes = read_excel(path)
        else:
            cells, lines = read_csv(path, coder)
            raw = {**cells}
    elif isinstance(value, Mapping):
        raw = {str(k): given_column(v, f"{title}: column {str(k)!r}") for k, v in value.items()}
    else:
        raw, backend = from_frame(with_index(value, names.values()), title, coder)
        raw = _without_blank_end(raw)
    columns: dict[str, Column] = {}
    for column, source in names.items():
        if source not in raw:
            if column in optional and (column not in rename or not source or column in lenient):
                continue
            mapped = f", which `columns` gives for {column}" if column in rename else ""
            hint = nearest(source, raw) or _hint(column, raw)
            can_map = "; other names can be mapped with `columns`" if takes_names else ""
            raise InvalidInput(
                f"{title} has no column {source!r}{mapped}; it has {_names(raw)} "
                f"(needed: {', '.join(required)}{can_map}){hint}"
            )
        if source or column in required:
            columns[column] = raw[source]
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(f"{title}: columns differ in length: {lengths}")
    read = {names[column] for column in columns}
    table = Table(
        columns, title, backend, lines, tuple(name for name in raw if name not in read), start, notes
    )
    if len(table) == 0:
        raise InvalidInput(f"{title} has no rows")
    if lines is None:  # files were looked at line by line
        _refuse_header(table, names)
    complaints = Complaints()
    for column in required:
        empty = np.flatnonzero(absent(columns[column]))
        with complaints:
            if len(empty):
                what = _is_empty(table[column][empty])
                if isinstance(value, str | Path) and is_workbook(resolve(value)):
                    what += merged_words(resolve(value))
                raise InvalidInput(f"{title} {table.places(empty)}: {column} {what}")
    complaints.tell()
    return table


def headings(value: Any) -> list[str]:
    """Names of the columns of a frame, a mapping or a file; none where there is no table to be read."""
    if isinstance(value, str | Path):
        return header(resolve(value))
    if isinstance(value, Mapping):
        return [str(name) for name in value]
    try:
        frame: Any = nw.from_native(value, eager_only=True)
    except (TypeError, DuplicateError):
        return []
    return column_names(frame)


def _without_blank_end(raw: dict[str, Column]) -> dict[str, Column]:
    """The columns without the last rows if all their values are missing, as such rows of files are left out.

    In a table of one column, as in a file of one, such a row is a gap.
    """
    if len(raw) < 2 or not all(len(column) and missing(_last(column))[0] for column in raw.values()):
        return raw
    filled = ~np.logical_and.reduce([absent(column) for column in raw.values()])
    end = int(np.flatnonzero(filled).max(initial=-1)) + 1
    return {name: as_array(column)[:end] for name, column in raw.items()}


def _last(column: Column) -> NDArray[Any]:
    return column.ids[column.codes[-1:]] if isinstance(column, Coded) else column[-1:]


def _names(columns: Iterable[str]) -> str:
    """The names of a table's columns, and how many more there are."""
    names = [*map(repr, columns)]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (", ".join(names[:_NAMED]) or "none") + more


def _is_empty(gaps: NDArray[Any]) -> str:
    """What is wrong with these values of a column, which all are missing, and what to do."""
    words = gap_words(gaps)
    if not words:
        return "is empty; drop the row or give a value"
    count = "counts" if len(words) == 1 else "count"
    return (
        f"is empty ({', '.join(words)} {count} as that); drop the row or give a value (a name that is "
        "written so needs another spelling)"
    )


def gap_words(gaps: NDArray[Any]) -> list[str]:
    """The words for a gap among missing values, sorted, such as NA."""
    return sorted({value for value in gaps.tolist() if isinstance(value, str) and value.strip()})


def _hint(column: str, names: Iterable[str]) -> str:
    """Which column may be meant, by what others call ours; or that a header was read as one column."""
    only = list(names)
    for separator, word in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if len(only) == 1 and separator in only[0]:
            return f"; its columns look separated by {word}, read it so"
    found = likely(column, only)
    return f"; did you mean {found!r}?" if found is not None else ""


def _refuse_header(table: Table, names: Mapping[str, str]) -> None:
    """Raise `InvalidInput` where all of a row's values are the names of their columns.

    With fewer than three columns a row such as (left, right) may be meant. Numbers end the search at once.
    """
    if len(table.parts) < 3:
        return
    rows: set[int] | None = None
    for column, part in table.parts.items():
        found = _rows_with(part, names[column])
        rows = found if rows is None else rows & found
        if not rows:
            return
    assert rows is not None
    raise InvalidInput(
        f"{table.title} {table.places(sorted(rows))}: the values are the names of the columns; drop the row"
    )


def _rows_with(part: Column, text: str) -> set[int]:
    if isinstance(part, Coded):
        code = place(part.ids, text)
        return set() if code is None else set(np.flatnonzero(part.codes == code).tolist())
    if part.dtype != object:
        return set()
    values = part.tolist()
    try:
        values.index(text)  # much the quickest way to see that there is none
    except ValueError:
        return set()
    except TypeError:  # pandas' NA is neither equal nor different
        pass
    return {row for row, value in enumerate(values) if isinstance(value, str) and value == text}
