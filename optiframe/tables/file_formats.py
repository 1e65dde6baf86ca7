"""Tables on disk: CSV by the standard library, Parquet by pyarrow."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.tables.columns import GAP_WORDS, Columns

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_SEPARATORS = ",;\t"


def write_table(columns: Columns, path: Path) -> None:
    """Write columns to CSV, or to Parquet when the name ends so (needs pyarrow)."""
    lists = {name: np.asarray(values).tolist() for name, values in columns.items()}
    if path.suffix.lower() == ".parquet":
        arrow = require("pyarrow", "frames")
        parquet = require("pyarrow.parquet", "frames")
        # A Parquet column has one type; where values have several, such as ids 1 and "a", it is text.
        table = {name: values if _one_type(values) else _as_text(values) for name, values in lists.items()}
        parquet.write_table(arrow.table(table), os.fspath(path))
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


def read_csv(path: Path) -> tuple[dict[str, NDArray[Any]], list[int]]:
    """Columns, and the line each row begins in; `InvalidInput` for what is not a CSV file.

    Values are separated by commas, or by semicolons or tabs where the header has only those, as
    spreadsheets write them in much of the world.
    """
    if not path.is_file():
        raise InvalidInput(f"no file {path}")
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            separator = _separator(next((line for line in file if line.strip()), ""))
            file.seek(0)
            reader = csv.reader(file, strict=True, delimiter=separator)
            header = next((row for row in reader if row), None)
            if header is None:
                raise InvalidInput(f"{path.name} is empty; it needs a header line")
            start = reader.line_num + 1
            for row in reader:
                if row:
                    rows.append(row)
                    lines.append(start)
                    if len(row) != len(header):
                        raise InvalidInput(
                            f"{path.name} line {start}: {len(row)} values where the header has {len(header)}"
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
    names = [name.strip() for name in header]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InvalidInput(f"{path.name} line 1: column {', '.join(map(repr, doubled))} occurs twice")
    by_column = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {name: _parse(column) for name, column in zip(names, by_column, strict=True)}, lines


def _separator(line: str) -> str:
    """The one of comma, semicolon and tab that the header's line has; a comma when in doubt."""
    bare = re.sub(r'"[^"]*"', "", line)
    found = [mark for mark in _SEPARATORS if mark in bare]
    return found[0] if len(found) == 1 and '"' not in bare else ","


def _refuse_header_again(title: str, header: list[str], rows: list[list[str]], lines: list[int]) -> None:
    """Raise `InvalidInput` where the header comes again, as when files were put one after the other."""
    marked = ["\ufeff" + header[0], *header[1:]]
    if header in rows or marked in rows:
        again = [line for row, line in zip(rows, lines, strict=True) if row in (header, marked)]
        more = len(again) - 1
        also = f" (and so do{'es 1 further line' if more == 1 else f' {more} further lines'})" if more else ""
        raise InvalidInput(f"{title} line {again[0]} repeats the header{also}; delete the line")


def _parse(column: Iterable[str]) -> NDArray[Any]:
    """Whole numbers when every cell that is not blank is one, written plainly; text otherwise.

    The rule looks at the whole column and at nothing else, so that ids mean the same
    whichever libraries are installed; "007" stays text. Cells such as NA count as blank, and
    stay as they are for messages.
    """
    cells = [cell.strip() for cell in column]
    filled = [cell for cell in cells if cell and cell not in GAP_WORDS]
    whole = bool(filled) and all(map(_INTEGER.fullmatch, filled))
    if whole and len(filled) == len(cells):
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    array = np.empty(len(cells), dtype=object)
    array[:] = [_whole(cell) for cell in cells] if whole else cells
    return array


def _whole(cell: str) -> int | str | None:
    return cell if cell in GAP_WORDS else int(cell) if cell else None


def read_parquet(path: Path) -> Any:
    """A pyarrow table; `InvalidInput` for what is not a Parquet file."""
    parquet = require("pyarrow.parquet", "frames")
    if not path.is_file():
        raise InvalidInput(f"no file {path}")
    arrow = require("pyarrow", "frames")
    try:
        return parquet.read_table(os.fspath(path))
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInput(f"{path.name} is not a readable Parquet file ({error})") from None
