"""Large plain CSV files, read by pyarrow or pandas into the columns of line-by-line reading.

Line-by-line reading takes some microseconds a cell, these libraries some ten nanoseconds. They only divide
the text into cells and read whole numbers; what a cell means is decided by the rules of `csv_cells`. Whatever
could mean something else there (line breaks in quotes, blank lines, rows of other lengths, a second header,
text that is not UTF-8) is left to line-by-line reading, which also has the messages.
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
from optiframe.tables.columns import GAP_WORDS, Coded, Coder, Column, encode, place
from optiframe.tables.csv_cells import INTEGER, declared_separator, heading, parse, separator_of

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
        line, _, body = path.read_bytes().removeprefix(_BOM).partition(b"\n")
        start, declared = 2, declared_separator(line.decode())
        if declared:
            start, (line, _, body) = 3, body.partition(b"\n")
        separator = declared or separator_of(line.decode(), map(bytes.decode, io.BytesIO(body)))
        header = next(csv.reader([line.decode()], strict=True, delimiter=separator), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    names, divide = [heading(name) for name in header], _divide(coder)
    if divide is None or not body or not line.strip() or b"\0" in line + body or len(set(names)) < len(names):
        return None
    if b"\r" in body and body.count(b"\r") != body.count(b"\r\n"):
        return None
    columns = _columns(divide, body, separator, header)
    return (
        None
        if columns is None
        else (dict(zip(names, columns, strict=True)), range(start, len(columns[0]) + start))
    )


def _divide(coder: Coder | None) -> Divide | None:
    """By whichever library is installed; Arrow is quicker with text."""
    for module, divide in (("pyarrow.csv", partial(by_arrow, coder=coder)), ("pandas", by_pandas)):
        with suppress(ImportError):
            import_module(module)
            return divide
    return None


def _columns(divide: Divide, body: bytes, separator: str, header: Sequence[str]) -> list[Column] | None:
    """The columns of the rows; None for what is not plain."""
    glance = body[:_GLANCE].decode("latin-1").splitlines()[:-1]
    rows = list(csv.reader(glance, delimiter=separator))
    if not rows or any(len(row) != len(header) for row in rows):
        return None
    whole = [all(map(INTEGER.fullmatch, column)) for column in zip(*rows, strict=True)]
    if any(x in body and b"0" + x in body for x in (b"x", b"X")):
        whole = [False] * len(header)  # Arrow takes 0x1F for a number
    quotes = _quotes(body, separator)
    if quotes is None:
        return None
    found = divide(body, separator, whole)
    if any(whole) and (found is None or _size(found, body) + quotes != len(body)):
        # Further down is a number written otherwise, or none.
        found = divide(body, separator, [False] * len(header))
    if found is None or _size(found, body) + quotes != len(body):
        return None
    texts = [each[0].ids.tolist() for each in found if isinstance(each, tuple)]
    if any(max(map(len, each)) > csv.field_size_limit() for each in texts):
        return None
    if len(header) > 1 and _has_blank_row(found):
        return None
    if _has_row(found, header) or _has_row(found, ["\ufeff" + header[0], *header[1:]]):
        return None
    return [_column(each[0]) if isinstance(each, tuple) else each for each in found]


def _quotes(body: bytes, separator: str) -> int | None:
    """How many quotes there are, if each begins or ends a cell by turns; else None."""
    if b'"' not in body:
        return 0
    letters = np.frombuffer(b"\n%b\n" % body, dtype=np.uint8)
    at = np.flatnonzero(letters == ord('"'))
    beside = np.isin(np.arange(256), [ord(separator), *b"\r\n"])
    good = len(at) % 2 == 0 and beside[letters[at[::2] - 1]].all() and beside[letters[at[1::2] + 1]].all()
    return len(at) if good else None


def _has_row(found: Divided, row: Sequence[str]) -> bool:
    """Whether the cells of some row are these."""
    same: NDArray[np.bool_] | None = None
    for each, cell in zip(found, row, strict=True):
        if isinstance(each, tuple):
            code = place(each[0].ids, cell)
            here = each[0].codes == (-1 if code is None else code)
        else:
            here = each == int(cell) if INTEGER.fullmatch(cell) else np.zeros(len(each), dtype=bool)
        same = here if same is None else same & here
        if not same.any():
            return False
    return True


def _has_blank_row(found: Divided) -> bool:
    """Whether all cells of some row are blank."""
    same: NDArray[np.bool_] | None = None
    for each in found:
        if not isinstance(each, tuple):
            return False
        blank = np.array([not text or text.isspace() for text in each[0].ids.tolist()], dtype=bool)
        if not blank.any():
            return False
        here = blank[each[0].codes]
        same = here if same is None else same & here
    return same is not None and bool(same.any())


def _size(found: Divided, body: bytes) -> int:
    """The bytes that rows of these cells take, plainly written and without quotes.

    The body takes more where a row has a cell too many, where a blank line was left out, or where a number
    is written 007 or +7.
    """
    first = found[0]
    rows, last = len(first[0] if isinstance(first, tuple) else first), not body.endswith(b"\n")
    if b'"' in body and body.count(b"\n") != rows - last:
        return 0  # a cell holds a line break
    ends = rows * len(found) - last + (body.count(b"\r") if b"\r" in body else 0)
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
            reader.ParseOptions(delimiter=separator, double_quote=False),
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
                doublequote=False,
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
