"""Selection: choose items from a table for the greatest sum of values, within bounds on groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.problems.problem import Problem
from optiframe.records.fields import Accepts
from optiframe.tables.columns import Columns
from optiframe.tables.field import ColumnNames
from optiframe.tables.frames import with_index
from optiframe.tables.ids import listed, positions
from optiframe.tables.read import headings
from optiframe_tvcs.selection.answer import Choice
from optiframe_tvcs.selection.bounds import read_bounds
from optiframe_tvcs.selection.changes import floats
from optiframe_tvcs.selection.data import NO_LIMIT, Counts, ItemTable, Mask
from optiframe_tvcs.selection.marks import Marks, read_marks
from optiframe_tvcs.selection.proof import Proof
from optiframe_tvcs.selection.read import COLUMNS, read_items, read_views
from optiframe_tvcs.selection.remarks import remarks
from optiframe_tvcs.selection.worths import Worths

_BOUNDS = Accepts("table of view (or total) to a whole number, a table by group, a column, or a file")
_MARKS = Accepts(
    "list of items, the name of a column that marks them, or a data frame or file that lists them"
)


class ItemSelection(Problem[Choice]):
    """Choose the items with the greatest sum of values, within bounds on the groups they are in.

    An item has a value and is in a group of each *view*: a brand and a shelf, a reviewer and a paper.
    `at_most` and `at_least` bound how many items are chosen from each group, and in all (``total``);
    `fixed` items are chosen in any case, `forbidden` ones never.

    With at most two views, and a column each, the best choice is found and proved exactly. More views, or
    a view of several columns (both ends of an edge), make it an integer program, which HiGHS solves by
    branch and bound: exactly too, where its time suffices; the answer says so, and what bound was proved.

    Bounds of a view: one whole number for every group; a table by group name; the name of a column that
    repeats the bound in each row of its group; or a data frame or file with the columns group (or the
    view's name) and bound (or at_most, max, at_least, min). Groups that are left out have no bound, or that
    of the group ``*``. Files may be CSV, Parquet or Excel (the first visible sheet, or the one that
    ``plan.xlsx#Bounds`` names).

    Without a column of items, the columns of the views say which item is which. With two views such a table
    may also be a matrix: the groups of one view in the first column, which has the name of that view's
    column, those of the other as headings, values in the cells, and empty cells for pairs that are no items.

    `fixed` and `forbidden` list items, name a column that marks them with yes, x or 1, or are a data frame or
    file with the column of items, or those of the views (as the pairs in a conflict of interest).

    Notes
    -----
    An item of negative value is chosen only where a lower bound or `fixed` asks for it. Memory: 16 bytes
    an item, and 20 for each of its groups, beside the table.
    """

    name = "selection"
    reference = "Yang et al., Eq. 5; Ahuja, Magnanti, Orlin 1993, Sec. 6.7 (flows with lower bounds)"
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {"value": "higher"}

    # The order matters: reading a field looks at those before it.
    columns: Annotated[dict[str, str], ColumnNames(COLUMNS)] = Field(
        default_factory=dict, description="names of the columns `item` and `value` where they differ"
    )
    views: Annotated[
        dict[str, tuple[str, ...]],
        PlainValidator(read_views),
        Accepts("list of columns, or table of view to a column or several"),
    ] = Field(default_factory=dict, description="columns that group the items, such as brand and shelf")
    items: Annotated[
        ItemTable,
        PlainValidator(read_items),
        Accepts(
            "data frame, mapping, CSV, Parquet or Excel file with item, value and a column a view; or a "
            "matrix of two views"
        ),
    ] = Field(description="what can be chosen, a row an item")
    at_most: Annotated[dict[str, NDArray[np.int64]], PlainValidator(read_bounds), _BOUNDS] = Field(
        default_factory=dict, description="how many items of each group, and in all, may be chosen"
    )
    at_least: Annotated[dict[str, NDArray[np.int64]], PlainValidator(read_bounds), _BOUNDS] = Field(
        default_factory=dict, description="how many items of each group, and in all, must be chosen"
    )
    fixed: Annotated[Marks, PlainValidator(read_marks), _MARKS] = Field(
        default=Marks(), description="items that must be chosen"
    )
    forbidden: Annotated[Marks, PlainValidator(read_marks), _MARKS] = Field(
        default=Marks(), description="items that may not be chosen"
    )

    @model_validator(mode="after")
    def _marks_fit(self) -> Self:
        both = self.items.ids[self.is_fixed & self.is_forbidden].tolist()
        if both:
            raise InvalidInput(f"{listed(both)}: fixed and forbidden at once; leave one of the two out")
        return self

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        views: Any = (),
        item: str = "item",
        value: str = "value",
        at_most: Mapping[str, Any] | None = None,
        at_least: Mapping[str, Any] | None = None,
        fixed: Any = (),
        forbidden: Any = (),
    ) -> Self:
        """The problem of a data frame (or a mapping of columns, or a file), by the names of its columns.

        Parameters
        ----------
        frame
            A row an item; or a matrix of the two views.
        views
            Columns that group the items.
        item
            The column that names the items, or the name of a pandas frame's index. Where there is neither,
            the views name them.
        value
            The column of values.
        at_most, at_least, fixed, forbidden
            As the fields.
        """
        frame = with_index(frame, (item,))
        columns = {"value": value} | ({"item": item} if item != "item" or item in headings(frame) else {})
        return cls.load(
            columns=columns,
            views=views,
            items=frame,
            at_most=at_most,
            at_least=at_least,
            fixed=fixed,
            forbidden=forbidden,
        )

    @cached_property
    def counts(self) -> Counts:
        """Everything that is counted, with its bounds."""
        return Counts.of(self.items, self.at_least, self.at_most)

    @cached_property
    def is_fixed(self) -> Mask:
        """Which items are chosen in any case; shape (items,)."""
        return self._marked(self.fixed)

    @cached_property
    def is_forbidden(self) -> Mask:
        """Which items are not chosen; shape (items,)."""
        return self._marked(self.forbidden)

    @property
    def worths(self) -> Worths:
        """The values as whole numbers."""
        return self.items.worths

    @property
    def is_flow(self) -> bool:
        """Whether the best choice is a flow: at most two views, with a column each."""
        return len(self.items.views) <= 2 and all(len(view.columns) == 1 for view in self.items.views)

    def choice(self, chosen: Mask, proof: Proof | None = None) -> Choice:
        """The answer with these items."""
        chosen = np.asarray(chosen, dtype=bool)
        value = self.worths.total(chosen, self.items.values)
        return Choice(chosen, value, proof, self.items, self.counts, self.is_fixed, self.is_forbidden)

    def objective(self, solution: Choice) -> float:
        return 0.0 - solution.value

    def violation(self, solution: Choice) -> float:
        """By how many items the bounds are missed, summed over all bounds and marks."""
        used, chosen = self.counts.used(solution.chosen), solution.chosen
        over = np.maximum(used - self.counts.upper, 0).sum() + np.maximum(self.counts.lower - used, 0).sum()
        return float(over + (self.is_fixed & ~chosen).sum() + (self.is_forbidden & chosen).sum())

    def metrics(self, solution: Choice) -> dict[str, float]:
        return {"value": solution.value, "chosen": float(len(solution))}

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (("tvcs.select", "it finds the best choice and says what proves it"),)

    def check(self, solution: Any) -> None:
        if not isinstance(solution, Choice) or solution.chosen.shape != (len(self.items),):
            raise InvalidInput("a solution is a Choice of this problem's items")

    def in_words(self, solution: Choice) -> Sequence[str]:
        return solution.in_words()

    def diagnose(self, solution: Choice) -> tuple[Finding, ...]:
        return (*remarks(solution, self.at_most), *self.forbidden.findings)

    def to_tables(self, solution: Choice) -> dict[str, Columns]:
        return {
            "choice": solution.columns(),
            "bounds": self._bounds_table(solution),
            "items": self._items_table(solution),
        }

    def _bounds_table(self, solution: Choice) -> Columns:
        """A row for each count: its bounds, how many are chosen, and what one unit more or less would add."""
        counts = self.counts
        changes = None if solution.proof is None else solution.proof.changes
        names = np.empty((2, len(counts)), dtype=object)
        names[0] = [view for view, _ in counts.names]
        names[1] = [group for _, group in counts.names]
        unknown = np.full(len(counts), np.nan)
        return {
            "view": names[0],
            "group": names[1],
            "items": counts.sizes,
            "chosen": counts.used(solution.chosen),
            "at_least": _shown(counts.lower, counts.lower > 0),
            "at_most": _shown(counts.upper, counts.upper != NO_LIMIT),
            "one_more_adds": _known(unknown if changes is None else floats(changes.one_more)),
            "one_less_adds": _known(unknown if changes is None else floats(changes.one_less)),
        }

    def _items_table(self, solution: Choice) -> Columns:
        """A row for each item: whether it is chosen, and how far its value is from where that changes."""
        items, proof = self.items, solution.proof
        unknown = np.full(len(items), np.nan)
        changes = None if proof is None else proof.changes
        marks = np.full(len(items), "", dtype=object)
        marks[self.is_fixed], marks[self.is_forbidden] = "fixed", "forbidden"
        margins = unknown if changes is None else floats(changes.margins)
        turns = items.values + np.where(solution.chosen, -margins, margins)
        return {
            "item": items.ids,
            "value": items.values,
            "chosen": solution.chosen.astype(np.int64),
            "mark": marks,
            "changes_at_value": _known(self.worths.tidy(turns)),
            "without_mark_adds": _known(unknown if changes is None else floats(changes.freed)),
        }

    def _marked(self, ids: tuple[Any, ...]) -> Mask:
        mask = np.zeros(len(self.items), dtype=bool)
        wanted = np.empty(len(ids), dtype=object)
        wanted[:] = ids
        mask[positions(self.items.ids, wanted)] = True
        return mask


def _shown(bounds: NDArray[np.int64], given: Mask) -> NDArray[Any]:
    """Bounds as a column, empty where nothing is asked."""
    column = bounds.astype(object)
    column[~given] = None
    return column


def _known(values: NDArray[np.float64]) -> NDArray[Any]:
    """Numbers as a column, empty where they are not known or not finite."""
    column = (values + 0.0).astype(object)
    column[~np.isfinite(values)] = None
    return column
