"""The answer to a selection: the chosen items, why these, and what would change that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from optiframe.notebook import InNotebook
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids
from optiframe_tvcs.selection.data import Counts, ItemTable, Mask
from optiframe_tvcs.selection.proof import Proof
from optiframe_tvcs.selection.words import changes_in_words, chosen_in_words, proof_in_words


@dataclass(frozen=True, eq=False)
class Choice(InNotebook):
    """The chosen items.

    Parameters
    ----------
    chosen
        Which items, shape (items,).
    value
        The sum of their values.
    proof
        How good the choice is; None where no solver has said.
    items, counts
        The items, and the bounds on them.
    fixed, forbidden
        What had to be chosen, and what could not be; shape (items,).
    """

    chosen: Mask = field(repr=False)
    value: float
    proof: Proof | None
    items: ItemTable = field(repr=False)
    counts: Counts = field(repr=False)
    fixed: Mask = field(repr=False)
    forbidden: Mask = field(repr=False)

    def __len__(self) -> int:
        return int(self.chosen.sum())

    def __str__(self) -> str:
        return "\n".join(self.in_words())

    def in_words(self) -> list[str]:
        """What is chosen, how good that is, what bounds are worth, and what is near; in sentences."""
        found = chosen_in_words(self.items, self.chosen, self.value)
        if self.proof is not None:
            found.append(proof_in_words(self.items, self.value, self.proof))
            if self.proof.changes is not None:
                found += changes_in_words(
                    self.items,
                    self.counts,
                    self.proof.changes,
                    chosen=self.chosen,
                    fixed=self.fixed,
                    forbidden=self.forbidden,
                )
        return found

    @property
    def ids(self) -> Ids:
        """The user's ids of the chosen items, in the order of the table."""
        return self.items.ids[self.chosen]

    def columns(self) -> Columns:
        """The rows of the chosen items, with every column of the table; values that were text are numbers."""
        found = {name: column[self.chosen] for name, column in self.items.table.columns.items()}
        if any(isinstance(value, str) for value in found[self.items.value_name].tolist()):
            found[self.items.value_name] = self.items.values[self.chosen]
        return found

    def frame(self) -> Any:
        """`columns()` as the kind of data frame the items came in; a dict of arrays for files."""
        return to_frame(self.columns(), self.items.table.backend)
