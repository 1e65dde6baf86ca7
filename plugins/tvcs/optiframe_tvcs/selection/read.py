"""Items, views and marks of a selection: reading and checking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import Complaints, InvalidInput, nearest
from optiframe.records.fields import resolve
from optiframe.tables.columns import ERROR_WORDS, encode
from optiframe.tables.excel import workbook
from optiframe.tables.frames import with_index
from optiframe.tables.ids import Ids, joined, locked, positions
from optiframe.tables.matrix import is_matrix, read_matrix
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import Table, headings, missing, read_table
from optiframe_tvcs.selection.data import TOTAL, ItemTable, Mask, View

COLUMNS = ("item", "value")
_YES = {1, "1", "1.0", "yes", "y", "x", "true"}
_NO = {0, "0", "0.0", "no", "n", "", "false"}
_FAILED = {word.lower() for word in ERROR_WORDS}
_FILES = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".xlsm", ".xls", ".ods")


def read_views(value: Any) -> dict[str, tuple[str, ...]]:
    """View -> its columns, from one name, a list of names, or a table of view and column or columns.

    Raises
    ------
    InvalidInput
        For what is no name, a view without a column, and views called as something else is.
    """
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Mapping):
        if not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
            raise InvalidInput(
                f'must be a list of columns that group the items, as ["brand", "shelf"], got {value!r:.60}'
            )
        doubled = sorted({name for name in value if list(value).count(name) > 1})
        if doubled:
            raise InvalidInput(f"{doubled[0]!r} is there twice; name each view once")
        value = {name: name for name in value}
    found: dict[str, tuple[str, ...]] = {}
    for name, columns in value.items():
        several = (columns,) if isinstance(columns, str) else columns
        if (
            not isinstance(several, list | tuple)
            or not several
            or not all(isinstance(column, str) for column in several)
        ):
            raise InvalidInput(f"view {name!r}: give a column or a list of columns, got {columns!r:.60}")
        if name == TOTAL:
            raise InvalidInput(
                "a view cannot be called 'total', which is the whole choice; give it another name, such as "
                'views = { sum = "total" }'
            )
        if len(set(several)) < len(several):
            raise InvalidInput(f"view {name!r} names a column twice")
        found[str(name)] = tuple(several)
    return found


def read_items(value: Any, info: ValidationInfo) -> ItemTable | None:
    """Items from a frame, a mapping or a file.

    Raises
    ------
    InvalidInput
        For what `read_table` finds, a value that is no number, an item that is there twice, and an item
        that is in one group twice, naming the rows.
    """
    if isinstance(value, ItemTable):
        return value
    columns, views = info.data.get("columns"), info.data.get("views")
    if columns is None or views is None:  # wrong and reported; reading on would only add noise
        return None
    item, worth = columns.get("item", "item"), columns.get("value", "value")
    groups = list(dict.fromkeys(column for several in views.values() for column in several))
    value = with_index(value, {item, worth, *groups})
    names = headings(value)
    # Without a column of items, the groups say which is which: a reviewer and a paper, two ends of an edge.
    named = item in names or "item" in columns or not groups
    required = [*([item] if named else []), worth, *groups]
    wanted = {item: "item", worth: "value"} if named else {worth: "value"}
    _refuse_title(names, [*wanted, *groups], in_file=isinstance(value, str | Path))
    pairs = not named and len(groups) == len(views) == 2
    if pairs and is_matrix(names, groups, worth):
        table, every = read_matrix(value, groups, worth, title="items")
        names = list(table.parts)
    else:
        _refuse_absent(names, wanted, views)
        others = [name for name in names if name not in required]
        table = read_table(value, list(dict.fromkeys(required)), others, title="items")
        every = {}
    made: list[View] = []
    values = np.empty(0)
    complaints = Complaints()
    with complaints:
        values = numbers(table, worth)
        with np.errstate(over="ignore"):
            if not np.isfinite(np.abs(values).sum()):
                raise InvalidInput(
                    f"{table.title}: the sum of {worth} is not finite; divide it by some number"
                )
    for name, several in views.items():
        with complaints:
            made.append(_view(table, name, several, every))
    # The answer has the columns in the user's order.
    table = replace(table, parts={name: table.parts[name] for name in names if name in table.parts})
    named_by = (item,) if named else tuple(groups)
    ids = _ids(table, named_by)
    with complaints:
        _refuse_twice(table, ids, item if named else " and ".join(groups), named)
    complaints.tell()
    return ItemTable(locked(ids.copy()), locked(values.copy()), tuple(made), worth, table, named_by)


def is_file_name(value: Any) -> bool:
    """Whether this names a file with a table."""
    if isinstance(value, str | Path):
        return workbook(Path(value))[0].suffix.lower() in _FILES
    return False


def refuse_no_file(value: Any) -> None:
    """Raise `InvalidInput` where this is the path of a file that is not there."""
    if isinstance(value, str | Path) and not (path := workbook(resolve(value))[0]).is_file():
        raise InvalidInput(f"no file {path}")


def _refuse_title(names: list[str], needed: list[str], *, in_file: bool) -> None:
    """Raise `InvalidInput` where the first line is a title and names no columns."""
    needed = list(dict.fromkeys(needed))
    alone = bool(names) and "|" not in names[0] and not any(name.strip() for name in names[1:])
    if in_file and alone and len(needed) > 1:
        raise InvalidInput(
            f"the first line holds {names[0]!r} alone, which looks like a title; delete the lines above the "
            f"one that names the columns ({', '.join(needed)}). "
            "Of a workbook the first visible sheet is read, or the one you name, as in plan.xlsx#Sheet2"
        )


def _refuse_absent(names: list[str], wanted: Mapping[str, str], views: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for columns that are not there, saying which key names them."""
    if not names:  # `read_table` says what is wrong
        return
    complaints = Complaints()
    for source, ours in wanted.items():
        if source not in names:
            with complaints:
                raise InvalidInput(
                    f"there is no column {source!r}; name the one that holds the {ours} with columns = "
                    f'{{ {ours} = "..." }} (columns: {", ".join(names)}){nearest(source, names)}'
                )
    for view, several in views.items():
        for source in several:
            if source not in names:
                with complaints:
                    listing = "; give several as a list of names" if "," in source else ""
                    raise InvalidInput(
                        f"there is no column {source!r} for the view {view!r} (columns: {', '.join(names)})"
                        f"{listing or nearest(source, names)}"
                    )
    complaints.tell()


def _view(table: Table, name: str, columns: tuple[str, ...], every: Mapping[str, Ids]) -> View:
    """A view by these columns; `every` has the groups of a matrix, also those without an item."""
    if columns[0] in every:
        groups = every[columns[0]]
        return View(
            name, columns, locked(positions(groups, table[columns[0]])[:, np.newaxis]), locked(groups)
        )
    together = table[columns[0]]
    for column in columns[1:]:
        together = joined(together, table[column])
    codes, groups = encode(together, f"{table.title} {name}")
    codes = codes.astype(np.int64).reshape(len(columns), -1).T
    ordered = np.sort(codes, axis=1)
    twice = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(twice):
        row = int(twice[0])
        raise InvalidInput(
            f"{table.title} {table.places(twice)}: {' and '.join(columns)} are both {groups[codes[row, 0]]}; "
            f"an item counts once in a {name}, drop the row{'s' if len(twice) > 1 else ''}"
        )
    return View(name, columns, locked(np.ascontiguousarray(codes)), locked(groups))


def _ids(table: Table, columns: Sequence[str]) -> Ids:
    """The items that the rows of a table name by these columns."""
    if len(columns) == 1:
        return table[columns[0]]
    ids = np.empty(len(table), dtype=object)
    ids[:] = [_joined(row) for row in zip(*(table[c].tolist() for c in columns), strict=True)]
    return ids


def _joined(names: Iterable[Any]) -> str:
    return " / ".join(map(str, names))


def _refuse_twice(table: Table, ids: Ids, what: str, named: bool) -> None:
    codes, distinct = encode(ids, f"{table.title} items")
    if len(distinct) == len(ids):
        return
    first = np.unique(codes, return_index=True)[1]
    again = np.setdiff1d(np.arange(len(ids)), first)
    row = int(again[0])
    before = int(np.flatnonzero(codes == codes[row])[0])
    todo = (
        "keep one row for each item"
        if named
        else 'keep one, or name the column that tells them apart with columns = { item = "..." }'
    )
    more = f" ({len(again)} rows repeat an earlier one: {table.places(again)})" if len(again) > 1 else ""
    raise InvalidInput(
        f"{table.title} {table.place(row)}: {what} {ids[row]} is there already "
        f"({table.place(before)}){more}; {todo}"
    )


def read_marks(value: Any, info: ValidationInfo) -> tuple[Any, ...]:
    """Ids of marked items.

    From a list of ids, a column that marks them with 1, yes, x or true, or a data frame or file that lists
    them by the columns that name items. Pairs, say, that are listed as forbidden need not be items, when
    both of the two are.

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
    several_names = len(items.named_by) > 1
    wanted = [_joined(one) if several_names and isinstance(one, list | tuple) else one for one in value]
    found = places(items.ids, wanted)
    for one, at in zip(wanted, found, strict=True):
        if at < 0:
            known = map(str, items.ids.tolist())
            raise InvalidInput(f"there is no item {one!r} in {items.table.title}{nearest(str(one), known)}")
    return tuple(items.ids[np.array(sorted(set(found)), dtype=np.intp)].tolist())


def _listed(value: Any, items: ItemTable, *, forbidden: bool) -> tuple[Any, ...]:
    """Ids of the items that a table lists; `InvalidInput` for a row that names none."""
    refuse_no_file(value)
    title = "forbidden" if forbidden else "fixed"
    table = read_table(value, items.named_by, title=title)
    found = np.array(places(items.ids, _ids(table, items.named_by).tolist()), dtype=np.intp)
    unknown = np.flatnonzero(found < 0).tolist()
    named = [(column, table[column]) for column in items.named_by]
    known = {column: dict.fromkeys(map(str, items.table[column].tolist())) for column, _ in named if unknown}
    for row in unknown:
        for column, names in named:
            if str(names[row]) not in known[column]:
                raise InvalidInput(
                    f"{table.title} {table.place(row)}: {items.table.title} has no {column} {names[row]!r}"
                    f"{nearest(str(names[row]), known[column])}"
                )
        if not forbidden:
            raise InvalidInput(
                f"{table.title} {table.place(row)}: {items.table.title} has no item "
                f"{_joined(each[row] for _, each in named)}; add "
                "its row there, or drop this one"
            )
    return tuple(items.ids[np.unique(found[found >= 0])].tolist())


def places(ids: Ids, wanted: Sequence[Any]) -> list[int]:
    """Where each of these ids is; -1 where it is not. `InvalidInput` for what can be no id."""
    array = np.empty(len(wanted), dtype=object)
    array[:] = wanted
    try:
        return [int(at) for at in positions(ids, array)]
    except TypeError as error:
        raise InvalidInput(f"a name must be text or a number ({error})") from None


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
