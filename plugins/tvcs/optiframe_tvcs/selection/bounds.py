"""Bounds by group, as people write them: one number, a table by name, a column, or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput, nearest
from optiframe.records.fields import resolve
from optiframe.tables.columns import ERROR_WORDS
from optiframe.tables.excel import SUFFIXES
from optiframe.tables.frames import with_index
from optiframe.tables.ids import listed, plain
from optiframe.tables.number_columns import POINTED, as_number
from optiframe.tables.read import Table, headings, missing, read_table
from optiframe_tvcs.selection.data import NO_LIMIT, TOTAL, Counted, ItemTable, View
from optiframe_tvcs.selection.read import is_file_name, places, refuse_no_file
from optiframe_tvcs.sets.caps import OTHERS, without_index

_SHORT = {"at_most": "max", "at_least": "min"}
_SEPARATED = re.compile(r"\d+([.,' \u00a0\u202f]\d+)+")


def read_bounds(value: Any, info: ValidationInfo) -> dict[str, Counted]:
    """View, or "total" -> a bound for each of its groups.

    For each view: a whole number (the same for every group), a table by group name, the name of a column
    of the items, or a data frame or file with the columns group (or the view's name) and bound. Groups
    that are left out have no bound, or that of the group `*`.

    Raises
    ------
    InvalidInput
        For a view or group that does not exist, and what is not a whole number of at least 0.
    """
    items: ItemTable | None = info.data.get("items")
    field = info.field_name or "bounds"
    if value is None or items is None:
        return {}
    if not isinstance(value, Mapping):
        views = [TOTAL, *(view.name for view in items.views)]
        got = f"a {type(value).__name__}" if hasattr(value, "shape") else f"{value!r:.60}"
        raise InvalidInput(
            f"give bounds by view, such as {{ {_key(views[-1])} = 3 }}, and the one on the whole choice as "
            f"{{ total = 10 }}; got {got}"
        )
    found: dict[str, Counted] = {}
    wrong: list[tuple[tuple[str, ...], str]] = []
    for name, given in value.items():
        try:
            found[str(name)] = _bounds(name, given, items, field)
        except InvalidInput as error:
            wrong.append(((str(name),), str(error)))
    if wrong:
        raise InvalidInput("; ".join(f"{name}: {text}" for (name,), text in wrong), wrong)
    return found


def _bounds(name: Any, given: Any, items: ItemTable, field: str) -> Counted:
    """The bounds of one view, or of the whole choice."""
    view = items.view(name)
    size = 1 if view is None else len(view.groups)
    if isinstance(given, np.ndarray) and given.shape == (size,) and not given.flags.writeable:
        return given  # read before: a copy of a problem
    if view is None and name != TOTAL:
        known = [TOTAL, *(view.name for view in items.views)]
        hint = nearest(str(name), known)
        if name in items.table:
            hint = f"; add it to views = [...] to bound it: {name} is a column"
        for view_of in (view for view in items.views if name in view.columns):
            hint = f"; bounds on the column {name} go by the name of its view, {view_of.name}"
        raise InvalidInput(f"there is no view {name!r}{hint} (bounds go by: {', '.join(known)})")
    none = 0 if field == "at_least" else NO_LIMIT
    if given is None:
        found = np.full(size, none, dtype=np.int64)
    else:
        found = _total(given) if view is None else _of_view(given, view, items, field, none)
    found.flags.writeable = False
    return found


def _key(name: str) -> str:
    """A name as TOML takes it for a key: in quotes where it has blanks or signs."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


def _total(value: Any) -> Counted:
    return np.array([_whole(value, "the bound on the whole choice")], dtype=np.int64)


def _of_view(value: Any, view: View, items: ItemTable, field: str, none: int) -> Counted:
    value = without_index(value)
    bounds = np.full(len(view.groups), none, dtype=np.int64)
    if isinstance(value, int | float | np.integer | np.floating):
        bounds[:] = _whole(value, "the bound")
        return bounds
    if isinstance(value, str) and value in items.table:
        return _of_column(value, view, items, bounds)
    if isinstance(value, str | Path) and not is_file_name(value):
        raise InvalidInput(
            f"{str(value)!r} is neither a column of {items.table.title} nor a file; give a whole number, a "
            f"table by {view.name}, a column, or a CSV, Parquet or Excel file"
            f"{nearest(str(value), items.table.parts)}"
        )
    if isinstance(value, Mapping) and not any(_is_column(cell) for cell in value.values()):
        groups, given = plain(value), list(value.values())
        where = [f"{view.name} {group}" for group in groups]
        title = items.table.title
    else:
        table, groups, given = _read(value, view, field)
        where = [f"{table.title} {table.place(row)}" for row in range(len(groups))]
        title = table.title
    seen: dict[int, str] = {}
    found: dict[int, int] = {}  # -1: all others
    absent: list[tuple[str, Any]] = []
    for at, group, bound, place in zip(places(view.groups, groups), groups, given, where, strict=True):
        if _gap(bound):
            continue
        if at < 0 and group != OTHERS:
            absent.append((place, group))
            continue
        if at in seen:
            raise InvalidInput(f"{place}: {view.name} {group} has a bound already ({seen[at]}); keep one")
        seen[at], found[at] = place, _whole(bound, f"{place}: the bound")
    if absent:
        raise InvalidInput(_absent(absent, view))
    bounds[:] = found.pop(-1, none)
    bounds[list(found)] = list(found.values())
    if not groups:
        raise InvalidInput(f"{title}: there is no bound; give at least one {view.name}, or leave it out")
    return bounds


def _absent(absent: list[tuple[str, Any]], view: View) -> str:
    """Which bounds are on groups that no item is in."""
    (place, group), *others = absent
    text = f"{place}: no item is in {view.name} {group!r}"
    if others:
        text += f", nor in {len(others)} more that have bounds: {listed(plain(other for _, other in others))}"
        return f"{text}; correct the names, or leave these out"
    known = [str(name) for name in view.groups.tolist()]
    return f"{text}; correct the name, or leave this bound out{nearest(str(group), known)}"


def _read(value: Any, view: View, field: str) -> tuple[Table, list[Any], list[Any]]:
    """A table, its groups and its bounds: columns group (or the view's name) and bound (or at_most, max)."""
    title = f"{field} of {view.name}"
    refuse_no_file(value)
    wanted = (view.name, *view.columns, "group")
    value = with_index(value, wanted)
    names = headings(value)
    if not names:
        if isinstance(value, list | tuple | np.ndarray):
            raise InvalidInput(
                f"a list does not say which {view.name} each bound is for; give a table of bounds by "
                f"{view.name}"
            )
        read_table(value, ("group", field), title=title)
    title = resolve(value).name if isinstance(value, str | Path) else title
    group = _column_of(names, wanted, title, f"names the {view.name}")
    bound = _column_of(names, (field, "bound", _SHORT[field]), title, "holds the bound")
    table = read_table(value, (group,), (bound,), title=title)
    return table, table[group].tolist(), table[bound].tolist()


def _column_of(names: list[str], wanted: tuple[str, ...], title: str, what: str) -> str:
    """The first of these columns that a table of bounds has, perhaps in capitals."""
    spelled = {name.casefold(): name for name in names} | {name: name for name in names}
    found = next((spelled[name] for name in (*wanted, *map(str.casefold, wanted)) if name in spelled), None)
    if found is None:
        asked = " or ".join(repr(name) for name in dict.fromkeys(wanted))
        first = f"; its first row must name the columns, and holds {', '.join(map(repr, names))}"
        if title.lower().endswith(SUFFIXES):
            first += f" (of a workbook the first visible sheet is read, or the one you name: {title}#Sheet2)"
        near = nearest(wanted[0], [name for name in names if name not in ("at_least", "at_most")])
        raise InvalidInput(f"{title} needs a column {asked} that {what}{first}{near}")
    return found


def _of_column(column: str, view: View, items: ItemTable, bounds: Counted) -> Counted:
    """A bound that stands in each row of the group."""
    table = items.table
    cells, empty = table[column].tolist(), missing(table[column])
    first: dict[int, int] = {}
    for row, cell in enumerate(cells):
        if empty[row] and cell not in ERROR_WORDS:
            continue
        bound = _whole(cell, f"{table.title} {table.place(row)}: {column}")
        for at in view.codes[row].tolist():
            before = first.setdefault(at, row)
            if before != row and bounds[at] != bound:
                group = f"{view.name} {view.groups[at]}"
                raise InvalidInput(
                    f"{table.title} {table.place(row)}: {column} of {group} is {bound} here, and "
                    f"{bounds[at]} in {table.place(before)}; give each {view.name} one bound"
                )
            bounds[at] = bound
    return bounds


def _is_column(cell: Any) -> bool:
    return isinstance(cell, list | tuple) or (hasattr(cell, "__len__") and not isinstance(cell, str))


def _gap(value: Any) -> bool:
    """Whether nothing is given; a formula that failed is something, and no bound."""
    cell = np.empty(1, dtype=object)
    cell[0] = value
    return bool(missing(cell)[0]) and value not in ERROR_WORDS


def _whole(value: Any, what: str) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    text = value if isinstance(value, str) else ""
    number = as_number(value)
    if not 0 <= number <= NO_LIMIT or number % 1 or POINTED.fullmatch(text.strip()):
        shown = repr(value) if text else value
        hint = ""
        if _SEPARATED.fullmatch(text.strip()):
            hint = "; write it in digits alone, without separators of thousands and decimals, such as 1000"
        elif 0 < number < 1 or text.strip().endswith("%"):
            hint = "; write how many items the share comes to"
        raise InvalidInput(f"{what} is {shown}; a bound is a whole number of at least 0{hint}")
    return min(int(value if isinstance(value, int) else number), NO_LIMIT)
