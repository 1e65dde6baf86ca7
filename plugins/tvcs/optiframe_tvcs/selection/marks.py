"""Items that are fixed or forbidden, as people mark them: a list, a column, or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput, nearest
from optiframe.findings import Finding
from optiframe.tables.columns import ERROR_WORDS
from optiframe.tables.frames import with_index
from optiframe.tables.ids import Ids, listed, plain, whole_ids
from optiframe.tables.read import Table, headings, missing, read_table
from optiframe_tvcs.selection.data import ItemTable, Mask
from optiframe_tvcs.selection.read import is_file_name, joined_name, places, refuse_no_file

_YES = {1, "1", "1.0", "yes", "y", "x", "true", "ja"}
_NO = {0, "0", "0.0", "no", "n", "", "false", "nein"}
_FAILED = {word.lower() for word in ERROR_WORDS}


class Marks(tuple[Any, ...]):
    """Ids of marked items; `findings` say what to know of the table that lists them, and are not content."""

    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, ids: Ids, findings: tuple[Finding, ...] = ()) -> Self:
        marks = cls(ids.tolist())
        marks.findings = findings
        return marks


def read_marks(value: Any, info: ValidationInfo) -> Marks:
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
        return Marks()
    if isinstance(value, str) and value in items.table:
        return Marks.of(items.ids[_marked(items.table, value)])
    value = with_index(value, items.named_by)
    _refuse_pairs_as_keys(value, items)
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
        return Marks.of(items.ids[np.array(value)])
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidInput(f"must be a list of items, or the name of a column, got {value!r:.60}")
    ids: list[Any] = []
    rows: list[Any] = []  # as (reviewer, paper)
    for one in plain(value):
        named_by_all = isinstance(one, list | tuple) and len(one) == len(items.named_by) > 1
        (rows if named_by_all else ids).append(one)
    columns = [[row[at] for row in rows] for at in range(len(items.named_by))]
    found = [*places(items.ids, ids), *_rows(items, columns)[0]]
    for name, at in zip([*ids, *map(joined_name, rows)], found, strict=True):
        if at < 0:
            known = map(str, items.ids.tolist())
            raise InvalidInput(f"there is no item {name!r} in {items.table.title}{nearest(str(name), known)}")
    findings = value.findings if isinstance(value, Marks) else ()  # a copy of a problem
    return Marks.of(items.ids[np.array(sorted(set(found)), dtype=np.intp)], findings)


def _refuse_pairs_as_keys(value: Any, items: ItemTable) -> None:
    """Raise `InvalidInput` for a table of name to name, which is no table of columns."""
    if isinstance(value, Mapping) and any(map(np.isscalar, value.values())):
        pair = next(iter(value.items()))
        how = f"[[{', '.join(map(repr, pair))}]]" if len(items.named_by) == 2 else "a list of them"
        raise InvalidInput(
            f"a table has a list of names for each column ({' and '.join(items.named_by)}), got "
            f"{value!r:.60}; give items as {how}"
        )


def _rows(items: ItemTable, columns: Sequence[Sequence[Any]]) -> tuple[list[int], list[list[int]]]:
    """Which item each row of ids names, by the columns that name items, and where each of its ids is.

    A link counts at both of its ends, so that its row may have them the other way round. The places are
    those among the ids of a column, one list a column. -1: not there.
    """
    links_last = sorted(items.views, key=lambda view: len(view.columns))  # each end knows the ids of both
    coded = {
        column: (view.codes[:, at], view.groups)
        for view in links_last
        for at, column in enumerate(view.columns)
    }
    own = [coded.get(column, (np.arange(len(items)), items.ids)) for column in items.named_by]
    where = {row: at for at, row in enumerate(zip(*(codes.tolist() for codes, _ in own), strict=True))}
    orders = [list(range(len(own)))]  # of the given ids
    for view in items.views:
        if len(view.columns) == 2 and set(view.columns) <= set(items.named_by):
            one, other = map(items.named_by.index, view.columns)
            # An end that two links share changes its place with one other end at most.
            for order in [order for order in orders if order[one] == one and order[other] == other]:
                turned = order.copy()
                turned[one], turned[other] = other, one
                orders.append(turned)
    asked = [[places(ids, columns[at]) for (_, ids), at in zip(own, order, strict=True)] for order in orders]
    rows = zip(*(zip(*each, strict=True) for each in asked), strict=True)
    found = [next((where[row] for row in several if row in where), -1) for several in rows]
    return found, asked[0]


def _listed(value: Any, items: ItemTable, *, forbidden: bool) -> Marks:
    """Ids of the items that a table lists; `InvalidInput` for a row that names none."""
    refuse_no_file(value)
    title = "forbidden" if forbidden else "fixed"
    table = read_table(value, items.named_by, title=title)
    named = [table[column].tolist() for column in items.named_by]
    found, asked = _rows(items, named)
    absent = [row for row, at in enumerate(found) if at < 0]
    for row in absent:
        for column, names, at in zip(items.named_by, named, asked, strict=True):
            if at[row] < 0:
                near = nearest(
                    str(names[row]), dict.fromkeys(map(str, whole_ids(items.table[column]).tolist()))
                )
                raise InvalidInput(
                    f"{table.title} {table.place(row)}: {items.table.title} has no {column} {names[row]!r}"
                    f"{near}"
                )
        if not forbidden:
            raise InvalidInput(
                f"{table.title} {table.place(row)}: {items.table.title} has no item "
                f"{joined_name(names[row] for names in named)}; add its row there, or drop this one"
            )
    without = [joined_name(each[row] for each in named) for row in absent]
    known = sorted({at for at in found if at >= 0})
    return Marks.of(items.ids[known], _without_item(table.title, len(table), without))


def _without_item(title: str, rows: int, names: list[str]) -> tuple[Finding, ...]:
    """That some rows of a table of forbidden items name none; a warning where no row does."""
    if not names:
        return ()
    if len(names) == rows:
        text = f"{title} forbids nothing: none of its {rows} rows is an item, such as {listed(names)}"
        return (Finding("warning", text, tuple(names), identifier="selection.forbids-nothing"),)
    count = "1 row is no item" if len(names) == 1 else f"{len(names)} rows are no items"
    text = f"{title}: {count}, of {rows}, which changes nothing: {listed(names)}"
    return (Finding("note", text, tuple(names), identifier="selection.forbids-nothing"),)


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
