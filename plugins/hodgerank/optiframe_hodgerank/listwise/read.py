"""Rankings and choices, from lists or tables, checked and turned into codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import Complaints, InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.columns import as_column
from optiframe.tables.ids import Ids, joined, listed, locked
from optiframe.tables.number_columns import as_number, numbers
from optiframe.tables.read import Table, encode, missing, read_table
from optiframe.tables.unused_columns import unused_columns
from optiframe_hodgerank.listwise.orderings import Codes, Orderings

COLUMNS = ("ranking", "position", "choice", "chosen", "item", "weight", "score")
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@dataclass(frozen=True, eq=False)
class Given:
    """Orderings as they were given, by ids; one after the other, as in `Orderings`."""

    item: Ids
    first: Codes
    placed: Codes
    weight: Array | None = None
    backend: str | None = field(default=None, compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"<{len(self.placed)} orderings>"


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
    return _from_table(table, "ranking", _positions(table))


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
    return _from_table(table, "choice", np.where(chosen == 1, 1.0, np.nan))


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


class _Rows(NamedTuple):
    """The rows of a table by ordering and place.

    Parameters
    ----------
    table
        The table.
    by
        What an ordering is called in it: ranking or choice.
    names
        Ids of the orderings.
    order
        Where each row is in the table, shape (rows,).
    which
        Code of the ordering of each row, in this order.
    starts
        Where each ordering begins, shape (orderings,).
    """

    table: Table
    by: str
    names: Ids
    order: Codes
    which: Codes
    starts: Codes

    def named(self, which: Codes) -> str:
        """The first of these orderings, and how many there are."""
        many = len(np.unique(which))
        return f"{self.by} {self.names[which[0]]}{'' if many == 1 else f' ({many} {self.by}s are so)'}"

    def refuse(self, wrong: NDArray[np.bool_], what: str, order: Codes | None = None) -> None:
        """Raise `InvalidInput` for neighbouring rows that are wrong together, in this order or in another."""
        at = np.flatnonzero(wrong)
        if len(at):
            order = np.arange(len(self.order)) if order is None else order
            rows = np.sort(self.order[order[at[0] : at[0] + 2]])
            raise InvalidInput(
                f"{self.table.title} {self.table.places(rows)}: {self.named(self.which[order[at]])}: {what} "
                f"({listed(self.table['item'][rows])}); drop a row, or give other positions"
            )

    def refuse_without_place(self, placed: Codes) -> None:
        """Raise `InvalidInput` for orderings of which no item has a place."""
        none = np.flatnonzero(placed == 0)
        if len(none):
            rows = np.sort(self.order[self.which == none[0]])
            raise InvalidInput(
                f"{self.table.title} {self.table.places(rows)}: {self.named(none)} has no position; "
                "give one or drop the rows"
            )

    def weights(self) -> Array | None:
        """The weight of each ordering, which its rows repeat; None without the column."""
        if "weight" not in self.table:
            return None
        weight = numbers(self.table, "weight", above=0.0)[self.order]
        low, high = (each.reduceat(weight, self.starts) for each in (np.minimum, np.maximum))
        wrong = np.flatnonzero(low != high)
        if len(wrong):
            rows = np.sort(self.order[self.which == wrong[0]])
            raise InvalidInput(
                f"{self.table.title} {self.table.places(rows)}: {self.named(wrong)} has weights from "
                f"{low[wrong[0]]:g} to {high[wrong[0]]:g}; a {self.by} has one weight"
            )
        return np.asarray(low)


def _from_table(table: Table, by: str, position: Array) -> Given:
    """The rows of a table as orderings; `position` nan where an item has no place."""
    which, names = encode(table[by], f"{table.title} {by}s")
    item, _ = encode(table["item"], f"{table.title} items")
    order = np.lexsort((position, which))  # nan last
    which, item, place = which[order], item[order], position[order]
    rows = _Rows(table, by, names, order, which, np.flatnonzero(np.diff(which, prepend=-1)))
    placed = np.add.reduceat((~np.isnan(place)).astype(np.int64), rows.starts)
    again, weight, complaints = np.lexsort((item, which)), None, Complaints()
    with complaints:
        twice = (np.diff(which[again]) == 0) & (np.diff(item[again]) == 0)
        rows.refuse(twice, "an item is in it twice", again)
    with complaints:
        tied = (np.diff(which) == 0) & (np.diff(place) == 0)
        rows.refuse(tied, "two items share a position, and Plackett-Luce has no ties")
    with complaints:
        rows.refuse_without_place(placed)
    with complaints:
        weight = rows.weights()
    complaints.tell()
    remarks = unused_columns(table.title, table.unused, [] if "weight" in table else ["weight"])
    first = np.append(rows.starts, len(which))
    return Given(table["item"][order], first, placed, weight, table.backend, remarks)


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
