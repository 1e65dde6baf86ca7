"""Expression over time as states and changes: the data of a network identification."""

from __future__ import annotations

from dataclasses import dataclass, field

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids


@dataclass(frozen=True, eq=False)
class Transitions:
    """States and the changes that follow them, within series only.

    Parameters
    ----------
    states
        x_t of every point but the last of its series, shape (genes, transitions).
    changes
        x_{t+1} - x_t, same shape.
    genes
        Ids of the genes.
    even
        Whether all points of all series are equally far apart in time.
    backend
        The data-frame library of the table, for the way out. Not content.
    remarks
        What may be wrong with the table. Not content.
    """

    states: Array
    changes: Array
    genes: Ids
    even: bool
    backend: str | None = field(default=None, compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"<{self.states.shape[1]} transitions of {len(self.genes)} genes>"
