"""Large CSV files without quotes, read by pyarrow or pandas into the columns of line-by-line reading.

Line-by-line reading takes some microseconds a cell, these libraries some ten nanoseconds. They only divide
the text into cells and read whole numbers; what a cell means is decided by the rules of `csv_cells`. Whatever
could mean something else there (quotes, blank lines, rows of other lengths, a second header, text that is not
UTF-8) is left to line-by-line reading, which also has the messages.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.tables.arrow_arrays import codes_of_text, numbers_of
from optiframe.tables.columns import GAP_WORDS, Coded, Coder, Column, encode
from optiframe.tables.csv_cells import INTEGER, parse, separator_of

LEAST = 2**20  # bytes; below, importing a library takes longer than reading line by line
_BOM = b"\xef\xbb\xbf"
_GLANCE = 2**16  # bytes that tell columns of numbers from columns of text

Divided: TypeAlias = list[tuple[Coded, int] | NDArray[np.int64]]
"""Columns as whole numbers, or as codes of text with the bytes that the cells take."""
Divide: TypeAlias = Callable[[bytes, str, Sequence[bool]], Divided | None]
"""Divides rows into cells, given the separator and which columns are whole numbers; None if it refuses."""


def read_plain(path: Path, coder: Coder | None = None) -> tuple[dict[str, Column], Sequence[int]] | None:
    """Columns, and the line of each row; None where the file is small or not plain, or without a library.

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
        content = path.read_bytes()
    except OSError:
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
    divide = _divide(coder)
    columns = None if divide is None else _columns(divide, content[end + 1 :], separator, len(names))
    if columns is None or len(set(names)) < len(names):
        return None
    return dict(zip(names, columns, strict=True)), range(2, len(columns[0]) + 2)


def _divide(coder: Coder | None) -> Divide | None:
    """By whichever library is installed; Arrow is quicker with text."""
    for module, divide in (("pyarrow.csv", partial(by_arrow, coder=coder)), ("pandas", by_pandas)):
        with suppress(ImportError):
            import_module(module)
            return divide
    return None


def _columns(divide: Divide, body: bytes, separator: str, count: int) -> list[Column] | None:
    """The columns of the rows; None for what is not plain."""
    lines = body[:_GLANCE].splitlines()[:-1]
    rows = [line.decode("latin-1").split(separator) for line in lines]
    if not rows or any(len(row) != count for row in rows):
        return None
    whole = [all(map(INTEGER.fullmatch, column)) for column in zip(*rows, strict=True)]
    if any(x in body and b"0" + x in body for x in (b"x", b"X")):
        whole = [False] * count  # Arrow takes 0x1F for a number
    found = divide(body, separator, whole)
    if any(whole) and (found is None or _size(found, body) != len(body)):
        # Further down is a number written otherwise, or none.
        found = divide(body, separator, [False] * count)
    if found is None or _size(found, body) != len(body):
        return None
    texts = [each[0].ids.tolist() for each in found if isinstance(each, tuple)]
    if max((len(text) for each in texts for text in each), default=0) > csv.field_size_limit():
        return None
    return [_column(each[0]) if isinstance(each, tuple) else each for each in found]


def _size(found: Divided, body: bytes) -> int:
    """The bytes that rows of these cells take, plainly written.

    The body takes more where a row has a cell too many, where a blank line was left out, or where a number
    is written 007 or +7.
    """
    first = found[0]
    rows = len(first[0] if isinstance(first, tuple) else first)
    ends = rows * len(found) - (not body.endswith(b"\n")) + (body.count(b"\r") if b"\r" in body else 0)
    return ends + sum(each[1] if isinstance(each, tuple) else _digits(each) for each in found)


def by_arrow(
    body: bytes, separator: str, whole: Sequence[bool], coder: Coder | None = None
) -> Divided | None:
    """Cells by pyarrow."""
    import pyarrow as arrow
    from pyarrow import csv as reader

    types = [arrow.int64() if number else arrow.large_string() for number in whole]
    keys = list(map(str, range(len(whole))))
    try:
        table = reader.read_csv(
            arrow.py_buffer(body),
            reader.ReadOptions(column_names=keys),
            reader.ParseOptions(delimiter=separator, quote_char=False),
            reader.ConvertOptions(column_types=dict(zip(keys, types, strict=True)), null_values=[]),
        )
    except arrow.ArrowException:
        return None
    found: Divided = []
    for column, number in zip(table.columns, whole, strict=True):
        cells = column.combine_chunks()
        if number:
            found.append(numbers_of(cells))
        else:
            at = np.frombuffer(cells.buffers()[1], dtype=np.int64)[cells.offset :]
            found.append((codes_of_text(cells, coder), int(at[len(cells)] - at[0])))
    return found


def by_pandas(body: bytes, separator: str, whole: Sequence[bool]) -> Divided | None:
    """Cells by pandas."""
    import pandas

    types = dict(enumerate(np.int64 if number else object for number in whole))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows that are too long, which the bytes show
            table = pandas.read_csv(
                io.BytesIO(body),
                sep=separator,
                header=None,
                names=list(types),
                index_col=False,
                dtype=types,
                na_filter=False,
                quoting=csv.QUOTE_NONE,
                engine="c",
            )
        found: Divided = []
        for key, number in enumerate(whole):
            cells = table[key].to_numpy()
            if number:
                found.append(cells)
            else:
                size = len("".join(cells.tolist()).encode())  # refuses the nan of a row that is too short
                codes, ids = encode(cells)
                found.append((Coded(codes.astype(np.int32), ids), size))
    except (ValueError, TypeError, OverflowError):
        return None
    return found


def _digits(numbers: NDArray[np.int64]) -> int:
    """Characters that these numbers take, plainly written; 0 if one has more than 18 digits."""
    least, most = int(numbers.min()), int(numbers.max())
    if least <= -(10**18) or most >= 10**18:
        return 0
    sizes = numbers if least >= 0 else np.abs(numbers)
    tens = (10**k for k in range(1, 18) if 10**k <= max(-least, most))
    signs = 0 if least >= 0 else int(np.count_nonzero(numbers < 0))
    return len(numbers) + signs + sum(int(np.count_nonzero(sizes >= ten)) for ten in tens)


def _column(coded: Coded) -> Column:
    """What `csv_cells.parse` makes of these cells; text as codes."""
    texts = coded.ids.tolist()
    # Splitting at blanks is much quicker than looking at each text, and shows that there are none.
    stripped = "\n".join(texts).split() == texts or all(text == text.strip() for text in texts)
    named = any(text and text not in GAP_WORDS and not INTEGER.fullmatch(text) for text in texts)
    # Else whole numbers, perhaps with gaps, or cells that may become the same when they are stripped.
    return coded if stripped and named else parse(texts)[coded.codes]
