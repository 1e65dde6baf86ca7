"""The terms of the collaborative-ranking objective: comparisons, the penalty, and the passes over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

from optiframe_manifold.kernels import plain
from optiframe_manifold.kernels.entry_passes import EntryPasses
from optiframe_manifold.kernels.row_passes import Comparisons, RowPasses


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
    passes
        `optiframe_manifold.kernels.plain` or `optiframe_manifold.kernels.compiled`.
    by_rows
        Whether passes go over blocks of rows, or over the comparisons alone.
    """

    comparisons: Comparisons
    strength: float
    ridge: float
    passes: ModuleType
    by_rows: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Users and items."""
        return len(self.comparisons.pointer) - 1, self.comparisons.items

    @property
    def exponents(self) -> bool:
        """Whether the penalty takes a pass over all entries."""
        return self.strength > 0

    @property
    def compiled(self) -> bool:
        """Whether passes run compiled."""
        return self.passes is not plain

    @cached_property
    def row_passes(self) -> RowPasses:
        """Passes by blocks of rows."""
        return RowPasses(self.comparisons, self.passes, self.exponents)

    @cached_property
    def entry_passes(self) -> EntryPasses:
        """Passes over the comparisons alone."""
        return EntryPasses(self.comparisons, self.passes)
