"""Orderings out of a table with a row for each item of each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import Complaints, InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, listed
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import Table, encode
from optiframe.tables.unused_columns import unused_columns
from optiframe_hodgerank.listwise.orderings import Codes


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


def from_rows(table: Table, by: str, position: Array) -> Given:
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
