"""What the cells of a CSV file mean: which sign separates them, and whole numbers or text by columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.tables.columns import GAP_WORDS

INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_SEPARATORS = ",;\t|"
_LOOKED_AT = 20  # lines that show which of several signs in the header separates
_DECLARED = re.compile(r'\s*"?sep=([,;\t|])"?\s*', re.IGNORECASE)


def heading(text: str) -> str:
    """The name of a column; line breaks, with which spreadsheets wrap long ones, count as blanks."""
    return re.sub(r"\s*[\r\n]+\s*", " ", text.strip())


def separator_of(line: str, below: Iterable[str]) -> str:
    """The one of comma, semicolon, tab and vertical bar that the header's line has; a comma when in doubt.

    Of several it is the one that gives the first lines below as many values as the header, and the most: a
    name such as "Points (1,5 at most)" holds another.
    """
    bare = re.sub(r'"[^"]*"', "", line)
    found = [mark for mark in _SEPARATORS if mark in bare]
    if len(found) < 2 or '"' in bare:
        return found[0] if found and '"' not in bare else ","
    lines = [line, *islice(below, _LOOKED_AT)]
    widths = {mark: _widths(lines, mark) for mark in found}
    agreed = [mark for mark in found if len(widths[mark]) == 1]
    return max(agreed, key=lambda mark: max(widths[mark]), default=",")


def _widths(lines: list[str], separator: str) -> set[int]:
    """How many values lines have that are not blank; nothing where they are not CSV."""
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return set()
    return {len(row) for row in rows if any(cell.strip() for cell in row)}


def declared_separator(line: str) -> str:
    """The separator that the first line of a file for Excel names, as `sep=;`; nothing for any other line."""
    found = _DECLARED.fullmatch(line)
    return found[1] if found else ""


def parse(column: Iterable[str]) -> NDArray[Any]:
    """Whole numbers when every cell that is not blank is one, written plainly; text otherwise.

    The rule looks at the whole column and at nothing else, so that ids mean the same
    whichever libraries are installed; "007" stays text. Cells such as NA count as blank, and
    stay as they are for messages.
    """
    cells = [cell.strip() for cell in column]
    filled = [cell for cell in cells if cell and cell not in GAP_WORDS]
    whole = bool(filled) and all(map(INTEGER.fullmatch, filled))
    if whole and len(filled) == len(cells):
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    array = np.empty(len(cells), dtype=object)
    array[:] = [_whole(cell) for cell in cells] if whole else cells
    return array


def _whole(cell: str) -> int | str | None:
    return cell if cell in GAP_WORDS else int(cell) if cell else None
