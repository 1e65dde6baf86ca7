"""Items and views of a selection: reading and checking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import Complaints, InvalidInput, nearest
from optiframe.records.fields import check_is_file, resolve
from optiframe.tables.columns import encode
from optiframe.tables.excel import workbook
from optiframe.tables.file_formats import other_separator
from optiframe.tables.frames import with_index
from optiframe.tables.ids import Ids, joined, locked, positions, whole_ids
from optiframe.tables.matrix import is_matrix, read_matrix
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import Table, headings, read_table
from optiframe_tvcs.selection.data import TOTAL, ItemTable, View

COLUMNS = ("item", "value")
_BETWEEN = " / "  # the names of an item that several columns name
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
        _refuse_twice(table, ids, named_by, named)
    complaints.tell()
    return ItemTable(locked(ids.copy()), locked(values.copy()), tuple(made), worth, table, named_by)


def is_file_name(value: Any) -> bool:
    """Whether this names a file with a table."""
    if isinstance(value, str | Path):
        return workbook(Path(value))[0].suffix.lower() in _FILES
    return False


def refuse_no_file(value: Any) -> None:
    """Raise `InvalidInput` where this is the path of a file that is not there."""
    if isinstance(value, str | Path):
        check_is_file(workbook(resolve(value))[0])


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
                    f'{{ {ours} = "..." }} (columns: {", ".join(names)})'
                    f"{other_separator(names, source) or nearest(source, names)}"
                )
    for view, several in views.items():
        for source in several:
            if source not in names:
                with complaints:
                    listing = "; give several as a list of names" if "," in source else ""
                    raise InvalidInput(
                        f"there is no column {source!r} for the view {view!r} (columns: {', '.join(names)})"
                        f"{other_separator(names, source) or listing or nearest(source, names)}"
                    )
    complaints.tell()


def _view(table: Table, name: str, columns: tuple[str, ...], every: Mapping[str, Ids]) -> View:
    """A view by these columns; `every` has the groups of a matrix, also those without an item."""
    if columns[0] in every:
        groups = whole_ids(every[columns[0]])
        return View(
            name, columns, locked(positions(groups, table[columns[0]])[:, np.newaxis]), locked(groups)
        )
    together = whole_ids(table[columns[0]])
    for column in columns[1:]:
        together = joined(together, whole_ids(table[column]))
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
    parts = [whole_ids(table[column]) for column in columns]
    if len(parts) == 1:
        return parts[0]
    ids = np.empty(len(table), dtype=object)
    ids[:] = [joined_name(row) for row in zip(*(part.tolist() for part in parts), strict=True)]
    return ids


def joined_name(names: Iterable[Any]) -> str:
    """What an item is called that several columns name: another name for any other item.

    A name is in quotes, as in CSV, where it holds the sign between them (with the blanks beside the name) or
    begins with a quote.
    """
    return _BETWEEN.join(_quoted(str(name)) for name in names)


def _quoted(name: str) -> str:
    if _BETWEEN not in f" {name} " and not name.startswith('"'):
        return name
    return '"' + name.replace('"', '""') + '"'


def _refuse_twice(table: Table, ids: Ids, named_by: tuple[str, ...], named: bool) -> None:
    codes, distinct = encode(ids, f"{table.title} items")
    if len(distinct) == len(ids):
        return
    first = np.unique(codes, return_index=True)[1]
    again = np.setdiff1d(np.arange(len(ids)), first)
    row = int(again[0])
    before = int(np.flatnonzero(codes == codes[row])[0])
    todo = "keep one row for each item"
    if not named:
        todo = (
            'name the column that tells the rows apart with columns = { item = "..." }, or with item="..." '
            "of from_frame"
        )
        if len(named_by) > 1:  # else these were hardly meant to be pairs
            todo = f"keep one, or {todo}"
    more = f" ({len(again)} rows repeat an earlier one: {table.places(again)})" if len(again) > 1 else ""
    raise InvalidInput(
        f"{table.title} {table.place(row)}: {' and '.join(named_by)} {ids[row]} is there already "
        f"({table.place(before)}){more}; {todo}"
    )


def places(ids: Ids, wanted: Sequence[Any]) -> list[int]:
    """Where each of these ids is; -1 where it is not. `InvalidInput` for what can be no id."""
    array = np.empty(len(wanted), dtype=object)
    array[:] = wanted
    try:
        return [int(at) for at in positions(ids, array)]
    except TypeError as error:
        raise InvalidInput(f"a name must be text or a number ({error})") from None
