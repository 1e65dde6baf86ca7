"""Rankings and choices, from lists or tables, checked and turned into codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.columns import as_column
from optiframe.tables.ids import joined, locked
from optiframe.tables.number_columns import as_number
from optiframe.tables.read import Table, encode, missing, read_table
from optiframe_hodgerank.listwise.orderings import Codes, Orderings
from optiframe_hodgerank.listwise.rows import Given, from_rows

COLUMNS = ("ranking", "position", "choice", "chosen", "item", "weight", "score")
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


def read_rankings(value: Any, info: ValidationInfo) -> Given | None:
    """Rankings from a list of orderings, or a table with a row for each item of each ranking.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds; for an item that is twice in a ranking, a position that is no number
        or that two items share, a ranking without any position, and weights that differ within a ranking or
        are not positive; naming the rows, or the place in the list.
    """
    columns = info.data.get("columns")
    if value is None or isinstance(value, Given) or columns is None:
        return value if isinstance(value, Given) else None
    if _is_list(value):
        return _from_lists("rankings", [_items("rankings", at, one) for at, one in enumerate(value)])
    table = read_table(
        value,
        ("ranking", "item"),
        ("position", "weight"),
        title="rankings",
        rename=_of(columns, "choice", "chosen", "score"),
    )
    if "position" not in table:
        raise InvalidInput(
            f"{table.title} has no column 'position' (1 is the best; empty: below those that have one); "
            "other names can be mapped with `columns`"
        )
    return from_rows(table, "ranking", _positions(table))


def read_choices(value: Any, info: ValidationInfo) -> Given | None:
    """Choices from a list of (winner, set), or a table with a row for each item that could be chosen.

    Raises
    ------
    InvalidInput
        As `read_rankings`; and for a choice of which not exactly one item is chosen.
    """
    columns = info.data.get("columns")
    if value is None or isinstance(value, Given) or columns is None:
        return value if isinstance(value, Given) else None
    if _is_list(value):
        found = [_choice(at, one) for at, one in enumerate(value)]
        return _from_lists("choices", found, places=1)
    table = read_table(
        value,
        ("choice", "item", "chosen"),
        ("weight",),
        title="choices",
        rename=_of(columns, "ranking", "position", "score"),
    )
    chosen = _chosen(table)
    code, ids = encode(table["choice"], f"{table.title} choices")
    count = np.bincount(code, chosen, len(ids))
    wrong = np.flatnonzero(count != 1)
    if len(wrong):
        rows, many = np.flatnonzero(code == wrong[0]), len(wrong)
        raise InvalidInput(
            f"{table.title} {table.places(rows)}: {int(count[wrong[0]])} items of choice {ids[wrong[0]]} are "
            f"chosen{'' if many == 1 else f' ({many} choices are so)'}; exactly one must be"
        )
    return from_rows(table, "choice", np.where(chosen == 1, 1.0, np.nan))


def together(*parts: Given | None) -> Orderings:
    """The orderings of all parts, those of a single item left out.

    Raises
    ------
    InvalidInput
        When there is nothing, or nothing but single items.
    """
    given = [part for part in parts if part is not None]
    if not given:
        raise InvalidInput("give rankings or choices, or both")
    item = given[0].item if len(given) == 1 else joined(given[0].item, given[1].item)
    length = np.concatenate([np.diff(part.first) for part in given])
    keep = length > 1
    if not keep.any():
        raise InvalidInput(
            "nothing can be ranked: each ranking and choice has a single item; give two items or more"
        )
    code, ids = encode(item[np.repeat(keep, length)], "items")
    weight = None
    if any(part.weight is not None for part in given):
        each = [np.ones(len(part.placed)) if part.weight is None else part.weight for part in given]
        weight = locked(np.concatenate(each)[keep])
    remarks = [remark for part in given for remark in part.remarks]
    if not keep.all():
        single = int((~keep).sum())
        text = (
            f"{single} of {len(keep)} rankings and choices {'is' if single == 1 else 'are'} of a single item"
        )
        remarks.append(
            Finding("note", f"{text}; they say nothing", identifier="ranking.single-item-orderings")
        )
    return Orderings(
        locked(code),
        locked(np.append(0, np.cumsum(length[keep]))),
        locked(np.concatenate([part.placed for part in given])[keep]),
        weight,
        locked(ids),
        given[0].backend,
        tuple(remarks),
    )


def _of(columns: dict[str, str], *others: str) -> dict[str, str]:
    """The names that are for this table."""
    return {ours: yours for ours, yours in columns.items() if ours not in others}


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _items(title: str, at: int, ordering: Any) -> list[Any]:
    """The items of one ordering of a list."""
    if isinstance(ordering, str | Mapping) or not isinstance(ordering, Iterable):
        raise InvalidInput(f"{title}[{at}] must be a list of items, the best first, got {ordering!r}")
    items = ordering.tolist() if isinstance(ordering, np.ndarray) else list(ordering)
    if not items:
        raise InvalidInput(f"{title}[{at}] is empty; leave it out")
    try:
        twice = len(set(items)) < len(items)
    except TypeError:
        raise InvalidInput(f"{title}[{at}]: an item must be hashable, such as text or a number") from None
    if twice:
        again = next(item for item in items if items.count(item) > 1)
        raise InvalidInput(
            f"{title}[{at}]: item {again} is in it twice; an item has one place in an ordering"
        )
    gone = [place for place, item in enumerate(items) if item is None or item != item]  # noqa: PLR0124  # nan
    if gone:
        raise InvalidInput(f"{title}[{at}][{gone[0]}] is empty; leave it out or give an item")
    return items


def _choice(at: int, choice: Any) -> list[Any]:
    """Winner and set, which may hold the winner, as one list of items, the winner first."""
    parts = list(choice) if isinstance(choice, Sequence) and not isinstance(choice, str) else []
    if len(parts) != 2 or isinstance(parts[1], str) or not isinstance(parts[1], Iterable):
        raise InvalidInput(f"choices[{at}] must be a winner and the set it was chosen from, got {choice!r}")
    winner = parts[0]
    others = parts[1].tolist() if isinstance(parts[1], np.ndarray) else list(parts[1])
    if winner in others:
        others.remove(winner)
    return _items("choices", at, [winner, *others])


def _from_lists(title: str, orderings: list[list[Any]], places: int | None = None) -> Given:
    if not orderings:
        raise InvalidInput(f"{title} is an empty list")
    length = np.array([len(one) for one in orderings])
    values = [item for one in orderings for item in one]
    item = as_column(values)
    placed = length if places is None else np.full(len(length), places)
    return Given(item, np.append(0, np.cumsum(length)), placed)


def _positions(table: Table) -> Array:
    """Positions as numbers; nan where there is none."""
    values = table["position"]
    some = np.flatnonzero(~missing(values))
    position = np.full(len(table), np.nan)
    if len(some):
        position[some] = _finite(table, values, some)
    return position


def _finite(table: Table, values: NDArray[Any], rows: Codes) -> Array:
    found = np.array([as_number(value) for value in values[rows].tolist()])
    wrong = rows[~np.isfinite(found)]
    if len(wrong):
        raise InvalidInput(
            f"{table.title} {table.places(wrong)}: the position is {values[wrong[0]]}; it must be a number, "
            "1 for the best, or empty for items below those that have one"
        )
    return found


def _chosen(table: Table) -> Array:
    """1 where an item was chosen, else 0."""
    values = table["chosen"]
    if values.dtype == bool:
        return values.astype(np.float64)
    found = np.array([_WORDS.get(str(value).strip().lower(), as_number(value)) for value in values.tolist()])
    wrong = np.flatnonzero(~np.isin(found, (0.0, 1.0)))
    if len(wrong):
        raise InvalidInput(
            f"{table.title} {table.places(wrong)}: chosen is {values[wrong[0]]}; it must be 1 or 0, or "
            "true or false"
        )
    return found
