"""What in a table of items looks like a slip: rows of totals, thousands, names that are nearly the same."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, spelled_alike
from optiframe.tables.number_columns import POINTED
from optiframe_tvcs.selection.data import View

_FEWEST = 4  # items from which a value is compared with the sum of all others
_SHORTEST = 5  # letters of a name that one letter more, less or otherwise hardly makes another
_MOST = 5_000  # names that are compared letter by letter
_CALLED = 1_000  # items called total that are compared with the rows above; of more none is likely to be one
_TOTAL = re.compile(r"\W*((sub|grand)[ -]?)?(totals?|sum|summe|gesamt)\b.*", re.IGNORECASE)
_WHOLE = re.compile(r"-?\d{1,3}")


def totals(ids: Ids, values: Array) -> list[Any]:
    """Items worth as much as all others together, and those called total that are the sum of rows above.

    Parameters
    ----------
    ids, values
        Of the items, shape (items,).
    """
    with np.errstate(over="ignore"):
        whole = float(np.abs(values).sum())
        near = 1e-9 * whole
        found = np.zeros(len(values), dtype=bool)
        if len(values) >= _FEWEST and whole > 0:
            found = np.abs(2 * np.abs(values) - whole) <= near
        names = enumerate(ids.tolist())
        called = [at for at, name in names if at > 1 and isinstance(name, str) and _TOTAL.fullmatch(name)]
        for at in called if len(called) <= _CALLED else ():
            above = np.cumsum(values[:at][::-1])[1:]  # of two rows at least
            found[at] |= bool((np.abs(above - values[at]) <= near).any())
    return list(ids[found].tolist())


def total_groups(view: View, values: Array) -> list[Any]:
    """Groups called total that are worth as much as all others together, such as a matrix's last column.

    Parameters
    ----------
    view
        The groups.
    values
        Of the items, shape (items,).
    """
    sums, whole = view.matrix @ values, float(np.abs(values).sum())
    near = np.abs(2 * sums - values.sum()) <= 1e-9 * whole
    return [
        name
        for name in view.groups[near].tolist()
        if whole > 0 and isinstance(name, str) and _TOTAL.fullmatch(name)
    ]


def thousands(cells: NDArray[Any]) -> str:
    """A cell such as 1.400 among whole numbers below 1,000, whose point may separate thousands; or nothing.

    Parameters
    ----------
    cells
        Values as they stood in the table, text in a CSV file, shape (items,).
    """
    if cells.dtype != object or not all(isinstance(cell, str) for cell in cells.tolist()):
        return ""
    pointed = [cell for cell in cells.tolist() if POINTED.fullmatch(cell)]
    others = [cell for cell in cells.tolist() if not POINTED.fullmatch(cell)]
    return str(pointed[0]) if len(pointed) > 1 and others and all(map(_WHOLE.fullmatch, others)) else ""


def nearly_alike(groups: Ids) -> list[tuple[Any, Any]]:
    """Pairs of names that differ by one letter, or by two neighbours exchanged; not by a digit.

    Names that differ in capitals and blanks alone are left to `spelled_alike`.
    """
    names = [name for name in groups.tolist() if isinstance(name, str)]
    if len(names) > _MOST:
        return []
    by_rest: dict[str, list[str]] = defaultdict(list)
    for name in names:
        plain = name.casefold()
        if len(plain) >= _SHORTEST:
            for rest in {plain, *(plain[:at] + plain[at + 1 :] for at in range(len(plain)))}:
                by_rest[rest].append(name)
    pairs = {
        (one, other)
        for several in by_rest.values()
        for place, one in enumerate(several)
        for other in several[place + 1 :]
        if _one_slip(one.casefold(), other.casefold())
    }
    same = {frozenset(alike) for alike in spelled_alike(groups)}
    return sorted(pair for pair in pairs if frozenset(pair) not in same)


def _one_slip(one: str, other: str) -> bool:
    """Whether two texts are one letter apart: exchanged with its neighbour, put in, left out or another."""
    if len(one) > len(other):
        one, other = other, one
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    for cut_one, cut_other in ((1, 1), (0, 1), (2, 2)):
        changed, put = one[start : start + cut_one], other[start : start + cut_other]
        if one[start + cut_one :] == other[start + cut_other :] and len(changed + put):
            swapped = cut_one < 2 or changed == put[::-1]
            return swapped and not any(letter.isdigit() for letter in changed + put)
    return False
