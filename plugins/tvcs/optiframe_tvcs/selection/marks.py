"""Items that are fixed or forbidden, as people mark them: a list, a column, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput, nearest
from optiframe.tables.columns import ERROR_WORDS
from optiframe.tables.frames import with_index
from optiframe.tables.ids import plain, whole_ids
from optiframe.tables.read import Table, headings, missing, read_table
from optiframe_tvcs.selection.data import ItemTable, Mask
from optiframe_tvcs.selection.read import is_file_name, joined_name, places, refuse_no_file

_YES = {1, "1", "1.0", "yes", "y", "x", "true"}
_NO = {0, "0", "0.0", "no", "n", "", "false"}
_FAILED = {word.lower() for word in ERROR_WORDS}


def read_marks(value: Any, info: ValidationInfo) -> tuple[Any, ...]:
    """Ids of marked items.

    From a list of ids, a column that marks them with 1, yes, x or true, or a data frame or file that lists
    them by the columns that name items. Pairs, say, that are listed as forbidden need not be items, when
    both of the two are. Both ends of a link may come in either order.

    Raises
    ------
    InvalidInput
        For an item there is not, and a mark that is neither yes nor no, naming the row.
    """
    items: ItemTable | None = info.data.get("items")
    if value is None or items is None:
        return ()
    if isinstance(value, str) and value in items.table:
        return tuple(items.ids[_marked(items.table, value)].tolist())
    value = with_index(value, items.named_by)
    if is_file_name(value) or (not isinstance(value, str) and headings(value)):
        return _listed(value, items, forbidden=info.field_name == "forbidden")
    if isinstance(value, str):
        if places(items.ids, [value]) == [-1]:
            several = '; write several items as ["one", "another"]' if "," in value else ""
            raise InvalidInput(
                f"{value!r} is neither a column of {items.table.title} nor an item"
                f"{several or nearest(value, [*items.table.parts, *map(str, items.ids.tolist())])}"
            )
        value = [value]
    if not isinstance(value, list | tuple) and (hasattr(value, "tolist") or hasattr(value, "to_list")):
        value = value.tolist() if hasattr(value, "tolist") else value.to_list()  # an array, Series or Index
    if isinstance(value, list | tuple) and set(map(type, value)) == {bool}:
        if len(value) != len(items):
            raise InvalidInput(f"a mask has a mark for each of the {len(items)} items, got {len(value)}")
        return tuple(items.ids[np.array(value)].tolist())
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidInput(f"must be a list of items, or the name of a column, got {value!r:.60}")
    several = len(items.named_by)
    rows = [one for one in value if isinstance(one, list | tuple) and len(one) == several > 1]
    alone = plain(one for one in value if not (isinstance(one, list | tuple) and len(one) == several > 1))
    found = [*places(items.ids, alone), *_rows(items, list(zip(*rows, strict=True)))[0]]
    for one, at in zip([*alone, *map(joined_name, rows)], found, strict=True):
        if at < 0:
            known = map(str, items.ids.tolist())
            raise InvalidInput(f"there is no item {one!r} in {items.table.title}{nearest(str(one), known)}")
    return tuple(items.ids[np.array(sorted(set(found)), dtype=np.intp)].tolist())


def _rows(items: ItemTable, columns: Sequence[Sequence[Any]]) -> tuple[list[int], list[list[int]]]:
    """Which item each row of ids names, by the columns that name items, and where each of its ids is.

    A link counts at both of its ends, so that its row may have them the other way round. The places are
    those among the ids of a column, one list a column. -1: not there.
    """
    coded = {
        column: (view.codes[:, at], view.groups)
        for view in items.views
        for at, column in enumerate(view.columns)
    }
    own, asked, back = [], {}, {}
    for column, wanted in zip(items.named_by, columns, strict=False):
        codes, ids = coded.get(column, (np.arange(len(items)), items.ids))
        own.append(codes.tolist())
        asked[column] = back[column] = places(ids, wanted)
    for view in items.views:
        if len(view.columns) == 2 and asked.keys() >= set(view.columns):
            one, other = view.columns
            back[one], back[other] = asked[other], asked[one]
    where = {row: at for at, row in enumerate(zip(*own, strict=True))}
    rows, turned = (zip(*parts.values(), strict=True) for parts in (asked, back))
    found = [where.get(row, where.get(other, -1)) for row, other in zip(rows, turned, strict=True)]
    return found, list(asked.values())


def _listed(value: Any, items: ItemTable, *, forbidden: bool) -> tuple[Any, ...]:
    """Ids of the items that a table lists; `InvalidInput` for a row that names none."""
    refuse_no_file(value)
    title = "forbidden" if forbidden else "fixed"
    table = read_table(value, items.named_by, title=title)
    named = [table[column].tolist() for column in items.named_by]
    found, asked = _rows(items, named)
    for row in (row for row, at in enumerate(found) if at < 0):
        for column, names, at in zip(items.named_by, named, asked, strict=True):
            if at[row] < 0:
                known = dict.fromkeys(map(str, whole_ids(items.table[column]).tolist()))
                raise InvalidInput(
                    f"{table.title} {table.place(row)}: {items.table.title} has no {column} {names[row]!r}"
                    f"{nearest(str(names[row]), known)}"
                )
        if not forbidden:
            raise InvalidInput(
                f"{table.title} {table.place(row)}: {items.table.title} has no item "
                f"{joined_name(names[row] for names in named)}; add its row there, or drop this one"
            )
    return tuple(items.ids[sorted({at for at in found if at >= 0})].tolist())


def _marked(table: Table, column: str) -> Mask:
    cells = table[column]
    empty = missing(cells)
    marks = np.zeros(len(cells), dtype=bool)
    for row, cell in enumerate(cells.tolist()):
        word = cell.strip().lower() if isinstance(cell, str) else cell
        if (empty[row] and word not in _FAILED) or word in _NO:
            continue
        if word not in _YES:
            raise InvalidInput(
                f"{table.title} {table.place(row)}: {column} is {cell}; write yes, x or 1 for items that are "
                "marked, and no, 0 or nothing for the others"
            )
        marks[row] = True
    return marks
