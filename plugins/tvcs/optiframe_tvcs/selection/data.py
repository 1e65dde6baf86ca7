"""Items with a value and the groups they are in: the data of a selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe.tables.ids import Ids
from optiframe.tables.read import Table
from optiframe_tvcs.selection.worths import Worths

TOTAL = "total"
"""The name under which bounds are given that count every item."""
NO_LIMIT = int(np.iinfo(np.int64).max)

Counted = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class View:
    """A way to group the items.

    Parameters
    ----------
    name
        What bounds call it.
    columns
        The columns of the table that name the groups; an item is in one group for each.
    codes
        Group of each item in each column, shape (items, columns).
    groups
        Names of the groups, shape (groups,).
    """

    name: str
    columns: tuple[str, ...]
    codes: NDArray[np.int64]
    groups: Ids

    @property
    def matrix(self) -> sp.csr_array:
        """Which items count in which group, 0 or 1, shape (groups, items)."""
        items, times = self.codes.shape
        where = (self.codes.reshape(-1), np.repeat(np.arange(items), times))
        return sp.csr_array((np.ones(items * times), where), shape=(len(self.groups), items))


@dataclass(frozen=True, eq=False)
class ItemTable:
    """The items to choose from.

    Parameters
    ----------
    ids
        What the user calls the items, shape (items,), all different.
    values
        What each is worth, shape (items,), finite; it may be negative.
    views
        The ways to group them.
    value_name
        What the user calls the value.
    table
        All columns of the table, by the user's names. Not content.
    named_by
        The columns that say which item is which: that of items, or those of the views.
    """

    ids: Ids
    values: Array
    views: tuple[View, ...]
    value_name: str = field(compare=False)
    table: Table = field(compare=False, repr=False)
    named_by: tuple[str, ...] = field(compare=False, repr=False)

    def __repr__(self) -> str:
        views = ", ".join(f"{len(view.groups)} of {view.name}" for view in self.views)
        return f"<{len(self)} items in groups: {views or 'none'}>"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def worths(self) -> Worths:
        """The values as whole numbers."""
        return Worths.of(self.values)

    def view(self, name: str) -> View | None:
        """The view of this name; None for the total."""
        return next((view for view in self.views if view.name == name), None)


@dataclass(frozen=True, eq=False)
class Counts:
    """Everything that is counted and bounded: the whole choice first, then the groups of each view.

    Parameters
    ----------
    names
        View and group of each count; the total is ("total", "").
    matrix
        Which items count, shape (counts, items).
    lower, upper
        How many of them must and may be chosen, shape (counts,); 0 and `NO_LIMIT` where nothing is asked.
    """

    names: tuple[tuple[str, object], ...]
    matrix: sp.csr_array
    lower: Counted
    upper: Counted

    @classmethod
    def of(cls, items: ItemTable, at_least: Mapping[str, Counted], at_most: Mapping[str, Counted]) -> Counts:
        """The counts of a table, with bounds by view; a view without bounds is counted all the same."""
        names: list[tuple[str, object]] = [(TOTAL, "")]
        sizes = [1]
        for view in items.views:
            names += [(view.name, group) for group in view.groups.tolist()]
            sizes.append(len(view.groups))
        every = (TOTAL, *(view.name for view in items.views))
        lower = [
            at_least.get(name, np.zeros(size, np.int64)) for name, size in zip(every, sizes, strict=True)
        ]
        upper = [at_most.get(name, np.full(size, NO_LIMIT)) for name, size in zip(every, sizes, strict=True)]
        blocks = [sp.csr_array(np.ones((1, len(items)))), *(view.matrix for view in items.views)]
        return cls(
            tuple(names), sp.vstack(blocks, format="csr"), np.concatenate(lower), np.concatenate(upper)
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def sizes(self) -> Counted:
        """How many items each count has at most."""
        return np.asarray(self.matrix.sum(axis=1)).astype(np.int64)

    def used(self, chosen: Mask) -> Counted:
        """How many chosen items each count has."""
        return np.asarray(self.matrix @ chosen.astype(np.float64)).round().astype(np.int64)

    @property
    def limits(self) -> Mask:
        """Which upper bounds ask for something."""
        return self.upper < self.sizes

    @property
    def demands(self) -> Mask:
        """Which lower bounds ask for something."""
        return self.lower > 0

    def label(self, at: int) -> str:
        """The name of a count in words, such as `shelf B`."""
        view, group = self.names[at]
        return "the whole choice" if at == 0 else f"{view} {group}"

    def with_bounds(self, lower: Counted, upper: Counted) -> Counts:
        """The same counts with other bounds."""
        return Counts(self.names, self.matrix, lower, upper)
