"""The terms of the collaborative-ranking objective: comparisons, the penalty, and the passes over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from optiframe_manifold.objective.entry_passes import EntryPasses
from optiframe_manifold.objective.row_passes import Comparisons, RowPasses


@dataclass(frozen=True, eq=False)
class Terms:
    """What `BtlObjective` adds up, prepared for evaluations.

    Parameters
    ----------
    comparisons
        Which item each comparison prefers, grouped by user.
    strength
        lambda of the log-sum-exp penalty; 0 without.
    ridge
        The factor of |X|_F^2 / 2, for the frobenius penalty; 0 without.
    by_rows
        Whether passes go over blocks of rows, or over the comparisons alone.
    """

    comparisons: Comparisons
    strength: float
    ridge: float
    by_rows: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Users and items."""
        return len(self.comparisons.pointer) - 1, self.comparisons.items

    @property
    def exponents(self) -> bool:
        """Whether the penalty takes a pass over all entries."""
        return self.strength > 0

    @cached_property
    def row_passes(self) -> RowPasses:
        """Passes by blocks of rows."""
        return RowPasses(self.comparisons, self.exponents)

    @cached_property
    def entry_passes(self) -> EntryPasses:
        """Passes over the comparisons alone."""
        return EntryPasses(self.comparisons)
