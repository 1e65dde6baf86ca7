"""Large CSV files without quotes, read by pyarrow: the columns that line-by-line reading would give.

Line-by-line reading takes some microseconds a cell, Arrow some ten nanoseconds. Arrow divides the text into
cells and reads whole numbers; what a cell means is decided by the rules of `csv_cells`. Whatever could mean
something else there (quotes, blank lines, rows of other lengths, a second header, text that is not UTF-8)
is left to line-by-line reading, which also has the messages.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.tables.arrow_arrays import codes_of_text, numbers_of
from optiframe.tables.columns import GAP_WORDS, Coder, Column
from optiframe.tables.csv_cells import INTEGER, parse, separator_of

LEAST = 2**20  # bytes; below, importing pyarrow takes longer than reading line by line
_BOM = b"\xef\xbb\xbf"
_GLANCE = 2**16  # bytes that tell columns of numbers from columns of text


def read_plain(path: Path, coder: Coder | None = None) -> tuple[dict[str, Column], Sequence[int]] | None:
    """Columns, and the line of each row; None where the file is small or not plain, or without pyarrow.

    Parameters
    ----------
    path
        A CSV file.
    coder
        Asked first for the codes of a column of text.
    """
    try:
        if path.stat().st_size < LEAST:
            return None
        import pyarrow.csv  # noqa: F401  # asked for here, used below

        content = path.read_bytes()
    except (ImportError, OSError):
        return None
    start = len(_BOM) if content.startswith(_BOM) else 0
    end = content.find(b"\n", start)
    header = content[start:end].removesuffix(b"\r")
    again = any(b"\n" + mark + header in content for mark in (b"", _BOM))
    if end < 0 or not header.strip() or again or b'"' in content or b"\0" in content:
        return None
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return None
    try:
        separator = separator_of(header.decode())
        names = [name.strip() for name in header.decode().split(separator)]
    except UnicodeDecodeError:
        return None
    cells = _cells(content, end + 1, separator, len(names))
    if cells is None or len(set(names)) < len(names):
        return None
    columns = {name: _column(each, coder) for name, each in zip(names, cells, strict=True)}
    return columns, range(2, len(cells[0]) + 2)


def _cells(content: bytes, start: int, separator: str, columns: int) -> list[Any] | None:
    """Each column as an Arrow array of whole numbers or of text; None for what is not plain."""
    lines = content[start : start + _GLANCE].splitlines()[:-1]
    rows = [line.decode("latin-1").split(separator) for line in lines]
    if not rows or any(len(row) != columns for row in rows):
        return None
    whole = [all(map(INTEGER.fullmatch, column)) for column in zip(*rows, strict=True)]
    found = _read(content, start, separator, whole)
    if found is None and any(whole):  # further down is a number written otherwise, or none
        found = _read(content, start, separator, [False] * columns)
    return found


def _read(content: bytes, start: int, separator: str, whole: Sequence[bool]) -> list[Any] | None:
    """The columns, as whole numbers or as text; None if any byte of the rows has another meaning."""
    import pyarrow as arrow
    from pyarrow import csv as reader

    if any(whole) and any(x in content and b"0" + x in content for x in (b"x", b"X")):
        return None  # Arrow takes 0x1F for a number
    types = [arrow.int64() if number else arrow.large_string() for number in whole]
    keys = list(map(str, range(len(whole))))
    try:
        table = reader.read_csv(
            arrow.py_buffer(memoryview(content)[start:]),
            reader.ReadOptions(column_names=keys),
            reader.ParseOptions(delimiter=separator, quote_char=False),
            reader.ConvertOptions(column_types=dict(zip(keys, types, strict=True)), null_values=[]),
        )
    except arrow.ArrowException:
        return None
    found = [column.combine_chunks() for column in table.columns]
    # Separators and ends of lines, then what cells should take: a blank line, which Arrow leaves out, or a
    # number such as 007 or +7 takes more.
    size = len(table) * len(whole) - (not content.endswith(b"\n"))
    if b"\r" in content:
        size += content.count(b"\r", start)
    for each, number in zip(found, whole, strict=True):
        if number:
            size += _digits(numbers_of(each))
        else:
            at = np.frombuffer(each.buffers()[1], dtype=np.int64)[each.offset : each.offset + len(each) + 1]
            size += int(at[-1] - at[0])
            if int(np.diff(at).max(initial=0)) > csv.field_size_limit():
                return None
    return found if size == len(content) - start else None


def _digits(numbers: NDArray[np.int64]) -> int:
    """Characters that these numbers take, plainly written; 0 if one has more than 18 digits."""
    least, most = int(numbers.min()), int(numbers.max())
    if least <= -(10**18) or most >= 10**18:
        return 0
    sizes = numbers if least >= 0 else np.abs(numbers)
    tens = (10**k for k in range(1, 18) if 10**k <= max(-least, most))
    signs = 0 if least >= 0 else int(np.count_nonzero(numbers < 0))
    return len(numbers) + signs + sum(int(np.count_nonzero(sizes >= ten)) for ten in tens)


def _column(cells: Any, coder: Coder | None) -> Column:
    """What `csv_cells.parse` makes of these cells; text as codes."""
    if str(cells.type) == "int64":
        return numbers_of(cells)
    coded = codes_of_text(cells, coder)
    texts = coded.ids.tolist()
    # Splitting at blanks is much quicker than looking at each text, and shows that there are none.
    stripped = "\n".join(texts).split() == texts or all(text == text.strip() for text in texts)
    named = any(text and text not in GAP_WORDS and not INTEGER.fullmatch(text) for text in texts)
    # Else whole numbers, perhaps with gaps, or cells that may become the same when they are stripped.
    return coded if stripped and named else parse(texts)[coded.codes]
