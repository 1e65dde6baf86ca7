"""Tables on disk: CSV by the standard library, Parquet by pyarrow."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.records.fields import check_is_file
from optiframe.tables.columns import Coder, Column, Columns, days, refuse_doubled
from optiframe.tables.csv_cells import declared_separator, heading, parse, separator_of
from optiframe.tables.excel import excel_header, is_workbook, write_excel
from optiframe.tables.plain_csv import read_plain


def write_table(columns: Columns, path: Path) -> None:
    """Write columns to CSV, or to Parquet (needs pyarrow) or Excel (needs openpyxl) when the name ends so."""
    lists = {name: np.asarray(values).tolist() for name, values in columns.items()}
    if path.suffix.lower() == ".parquet":
        arrow = require("pyarrow", "frames")
        parquet = require("pyarrow.parquet", "frames")
        # A Parquet column has one type; where values have several, such as ids 1 and "a", it is text.
        table = {name: values if _one_type(values) else _as_text(values) for name, values in lists.items()}
        parquet.write_table(arrow.table(table), os.fspath(path))
        return
    lists = {name: days(values) for name, values in lists.items()}
    if path.suffix.lower() == ".xlsx":
        write_excel(lists, path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(lists)
        writer.writerows(zip(*lists.values(), strict=True))


def _one_type(values: list[Any]) -> bool:
    kinds = {type(value) for value in values} - {type(None)}
    return len(kinds) <= 1 or kinds == {int, float}


def _as_text(values: list[Any]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def read_csv(path: Path, coder: Coder | None = None) -> tuple[Mapping[str, Column], Sequence[int]]:
    """Columns, and the line each row begins in; `InvalidInput` for what is not a CSV file.

    Values are separated by commas, or by semicolons, tabs or vertical bars, as spreadsheets write them in
    much of the world: by what a first line such as `sep=;` says, else by the one of them that the header
    has. Where it has several, the lines below decide. Large plain files are read by pyarrow or pandas where
    installed; the columns are the same, with text as codes, for which `coder` is asked first.
    """
    check_is_file(path)
    _refuse_other_formats(path)
    return read_plain(path, coder) or read_lines(path)


_OTHER_FORMATS = (
    (b"\x1f\x8b", "a gzip file; unpack it first: gunzip {}"),
    (b"PAR1", "a Parquet file; let its name end in .parquet"),
    (
        b"PK\x03\x04",
        "an Excel workbook or a zip file; let a workbook's name end in .xlsx, or unpack it",
    ),
    (b"\xd0\xcf\x11\xe0", "an old Excel file; save the sheet as .xlsx or as CSV"),
    (b"BZh", "a bzip2 file; unpack it first: bunzip2 {}"),
    (b"\xfd7zXZ", "an xz file; unpack it first: unxz {}"),
    (b"[{", "JSON; pass pandas.read_json({!r}) instead"),
    (b'{"', "JSON; pass pandas.read_json({!r}) instead"),
)


def _refuse_other_formats(path: Path) -> None:
    """Raise `InvalidInput` for a file whose first bytes say that it is something else than CSV."""
    try:
        with path.open("rb") as file:
            first = file.read(8)
    except OSError:
        return  # reading it says why
    for mark, what in _OTHER_FORMATS:
        if first.startswith(mark):
            raise InvalidInput(f"{path.name} is {what.format(path.name)}")


def read_lines(path: Path) -> tuple[dict[str, NDArray[Any]], list[int]]:
    """The same, read line by line by the standard library."""
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = _reader(file)
            header = next((row for row in reader if row), None)
            if header is None:
                raise InvalidInput(f"{path.name} is empty; it needs a header line")
            named = reader.line_num
            start = named + 1
            for row in reader:
                # Spreadsheets write blank rows as separators alone.
                if row and (len(row) == 1 or not all(cell == "" or cell.isspace() for cell in row)):
                    rows.append(row)
                    lines.append(start)
                    if len(row) != len(header):
                        raise InvalidInput(
                            f"{path.name} line {start}: {len(row)} values where the header has {len(header)}"
                            f"{other_separator(header)}"
                        )
                start = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path.name} is not UTF-8 text ({error.reason}); save it as UTF-8 "
            '(a spreadsheet offers "CSV UTF-8")'
        ) from None
    except csv.Error as error:
        raise InvalidInput(f"{path.name} line {reader.line_num}: not valid CSV ({error})") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    _refuse_header_again(path.name, header, rows, lines)
    names = [heading(name) for name in header]
    refuse_doubled(names, f"{path.name} line {named}")
    by_column = list(zip(*rows, strict=True)) if rows else [() for _ in names]
    nameless = [at for at, name in enumerate(names) if not name]
    blank = {at for at in nameless[1:] if not any(cell.strip() for cell in by_column[at])}
    for at in nameless[1:]:
        if at not in blank:
            line = next(line for row, line in zip(rows, lines, strict=True) if row[at].strip())
            raise InvalidInput(
                f"{path.name} line {line}: column {at + 1} has a value and no name; name the column in line "
                f"{named}"
            )
    columns = zip(names, by_column, strict=True)
    return {name: parse(cells) for at, (name, cells) in enumerate(columns) if at not in blank}, lines


def header(path: Path) -> list[str]:
    """Names of the columns of a table in a file; none where they cannot be read (reading it says why)."""
    if path.suffix.lower() == ".parquet":
        parquet, arrow = require("pyarrow.parquet", "frames"), require("pyarrow", "frames")
        try:
            return list(parquet.read_schema(os.fspath(path)).names)
        except (arrow.ArrowException, OSError):
            return []
    if is_workbook(path):
        return excel_header(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names: list[str] = next(filter(None, _reader(file)), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return []
    return [heading(name) for name in names]


def _reader(file: TextIO) -> Any:
    """Reads the rows of a file from its header on, by the separator that it uses."""
    line = next((line for line in file if line.strip()), "")
    declared = declared_separator(line)
    separator = declared or separator_of(line, file)
    file.seek(0)  # a name may hold a line break
    reader = csv.reader(file, strict=True, delimiter=separator)
    if declared:
        next(filter(None, reader))
    return reader


def other_separator(header: Sequence[str], wanted: str | None = None) -> str:
    """What to do where a header with commas and semicolons was divided at the wrong ones, if it was.

    That semicolons should divide it shows any name with one. Many a name holds a comma, so that commas
    should only where they divide a name into others, of which one is the `wanted` one.
    """
    word, sign = "semicolons", ";"
    if not any(sign in name for name in header):
        word, sign = "commas", ","
        if not any(wanted in name.split(sign) for name in header):
            return ""
    return f"; if {word} separate the values, write sep={sign} in a line above the header"


def _refuse_header_again(title: str, header: list[str], rows: list[list[str]], lines: list[int]) -> None:
    """Raise `InvalidInput` where the header comes again, as when files were put one after the other."""
    marked = ["\ufeff" + header[0], *header[1:]]
    if header in rows or marked in rows:
        again = [line for row, line in zip(rows, lines, strict=True) if row in (header, marked)]
        more = len(again) - 1
        also = f" (and so do{'es 1 further line' if more == 1 else f' {more} further lines'})" if more else ""
        raise InvalidInput(f"{title} line {again[0]} repeats the header{also}; delete the line")


def read_parquet(path: Path) -> Any:
    """A pyarrow table; `InvalidInput` for what is not a Parquet file."""
    parquet = require("pyarrow.parquet", "frames")
    check_is_file(path)
    arrow = require("pyarrow", "frames")
    try:
        return parquet.read_table(os.fspath(path))
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInput(f"{path.name} is not a readable Parquet file ({error})") from None
