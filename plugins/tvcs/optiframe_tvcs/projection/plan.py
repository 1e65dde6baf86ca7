"""The projection plan: group structure prepared once, for repeated certified projections."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_tvcs.kernels import reference
from optiframe_tvcs.kernels.answers import Effort
from optiframe_tvcs.kernels.projection import Layout, keep, project
from optiframe_tvcs.projection.binding import Binding
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.checked import as_point, checked_bounds, checked_prices, refuse_infinite
from optiframe_tvcs.projection.closed import closed_elements, open_values, with_closed
from optiframe_tvcs.projection.optimality import check
from optiframe_tvcs.projection.selection import Selection

Packed = tuple[Array, int]
"""Prices of the groups that are solved for as a projection writes them, and the place of their unit."""


class ProjectionPlan:
    """Three views prepared for repeated projections: exact, and proved on every call.

    The support program is a transportation problem with a bound on the whole flow. Prices near the
    optimum come from the smoothed dual: up to 20,000 elements on all of them at once, beyond on samples
    first, then on candidates near the thresholds, or from the prices of a similar projection. Where groups
    hold only a few elements, or a few are chosen of many, they come from exact sweeps. Shortest paths on the
    graph of groups make them exact, and pricing all elements proves it. When the repair takes more than a
    bounded effort, paths between groups, a network simplex or cost scaling take over. What rounding worths
    to 50 bits leaves open is then solved again in finer units. Bounds of 1 on a full matrix and few groups in
    one view have ways of their own. `native/projection/project.cpp` chooses the way.

    Memory: 12 bytes an element for the plan (8 when elements come sorted by rows), some 24 while solving
    beside the result, and 150 to 205 where all elements are repaired or cost scaling takes over. Picklable.

    Parameters
    ----------
    row_labels, column_labels
        Group of each element in each view, -1 for none; shape (p,).
    row_caps, column_caps
        Bound of each group.
    total
        Bound on the whole vector.

    Raises
    ------
    InvalidInput
        When labels or bounds are no whole numbers, a label names no group or a bound is negative, naming the
        view and the element or group.
    """

    effort: Effort | None = None
    """How the last projection by `solve` was found."""

    def __init__(
        self,
        row_labels: NDArray[np.int32],
        row_caps: NDArray[np.int64],
        column_labels: NDArray[np.int32],
        column_caps: NDArray[np.int64],
        total: int,
    ) -> None:
        # Here, once: groups that cannot bind are left out before the kernel sees the others.
        self.bounds = checked_bounds(row_labels, row_caps, column_labels, column_caps, total)
        self.elements = len(self.bounds.row_labels)

    def __repr__(self) -> str:
        rows, columns = len(self.bounds.row_caps), len(self.bounds.column_caps)
        return (
            f"<projection plan: {self.elements} elements, {rows} row groups, {columns} column groups, "
            f"at most {self.bounds.total} chosen>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"bounds": self.bounds, "elements": self.elements}

    def solve(
        self, values: Array, start: Prices | None = None, *, forced: bool = False, squared: bool = False
    ) -> Selection:
        """The support of greatest total worth, its prices, and the proof.

        Nothing is rounded: neither in choosing (what rounding to 50 bits leaves open is solved again in finer
        units) nor in the proof. Among supports of equal worth it is the one with the greatest sum of numbers
        that fall with the index, whatever way led there. Values of elements that no support can hold
        (`closed`) count as 0.

        Parameters
        ----------
        values
            Worths, float64, shape (p,); what is not positive is never chosen.
        start
            Prices to start at, in the units of the worths: those of a similar projection.
        forced
            Take the fallback even though the guard has not tripped (for tests).
        squared
            Whether the squares of the values are the worths, as in a projection.

        Raises
        ------
        InvalidInput
            When the values are not p finite real numbers, or `start` has not one price for each group.
        """
        values = self._checked(values)
        support = np.empty(self.elements, np.bool_)
        packed = np.empty(self._prices)
        opened = open_values(values, self.closed)
        given = None if start is None else self._packed(start)
        report = project(self._layout, opened, squared, given, 0, forced, packed, support, None)
        if report.refused:
            refuse_infinite(values, "values")
        rows = len(packed) - int(np.count_nonzero(self._binding.columns))
        prices = self._binding.all_prices(Prices(float(packed[0]), packed[1:rows], packed[rows:]))
        self.effort = report.effort
        certificate, prices = check(opened, self.bounds, support, prices, squared=squared, unit=report.unit)
        if self.closed is not None:
            prices = with_closed(prices, self.bounds, self.closed, values, squared=squared)
        return Selection(support, prices, certificate, self.bounds)

    def support(self, values: Array, *, squared: bool = False) -> NDArray[np.bool_]:
        """The support alone, for those who project in a loop; the same as that of `solve`.

        Raises
        ------
        InvalidInput
            When the values are not p finite real numbers.
        """
        values = self._checked(values)
        support, prices = np.empty(self.elements, np.bool_), np.empty(self._prices)
        report = project(
            self._layout, open_values(values, self.closed), squared, None, 0, False, prices, support, None
        )
        if report.refused:
            refuse_infinite(values, "values")
        return support

    def keep(self, v: Array, given: Packed | None = None) -> tuple[Array, Packed] | None:
        """The point with the entries of its best support, zero elsewhere, and packed prices for the next.

        It saves the passes that squaring, checking and cutting would take one by one.

        Parameters
        ----------
        v
            Entries, float64, shape (p,).
        given
            What a call for a similar point returned.

        Returns
        -------
        The point and the prices; None where an entry is not finite, which `solve` names.
        """
        v = self._checked(v)
        kept, prices = np.empty(self.elements), np.empty(self._prices)
        start, unit = given or (None, 0)
        report = project(
            self._layout, open_values(v, self.closed), True, start, unit, False, prices, None, kept
        )
        return None if report.refused else (kept, (prices, report.unit))

    def project(self, v: Array, kept: Array) -> bool:
        """Writes the point that `keep` gives, and nothing else: the least that a projection takes.

        Parameters
        ----------
        v
            Entries, float64, p numbers of any shape.
        kept
            The same for the nearest point.

        Returns
        -------
        False where an entry is not finite, and nothing was written.
        """
        if self.closed is not None:
            v = open_values(v.reshape(-1), self.closed)
        return keep(self._layout, np.ascontiguousarray(v), kept)

    @cached_property
    def closed(self) -> NDArray[np.bool_] | None:
        """Which elements are in a group with a bound of 0, so that no support holds them; None: none is."""
        return closed_elements(self.bounds)

    @cached_property
    def _binding(self) -> Binding:
        """The groups that are solved for: those that can bind, and a few others."""
        return Binding.of(self.bounds)

    @cached_property
    def _layout(self) -> reference.Layout:
        reduced = self._binding.reduced(self.bounds)
        labels = (reduced.row_labels, reduced.column_labels)
        return Layout(*labels, reduced.row_caps, reduced.column_caps, reduced.total)

    @cached_property
    def _prices(self) -> int:
        """Prices that a projection has: of the total and of each group that is solved for."""
        return 1 + int(np.count_nonzero(self._binding.rows) + np.count_nonzero(self._binding.columns))

    def _packed(self, start: Prices) -> Array:
        """Prices y0, u, w of the groups solved for in one array."""
        found = self._binding.reduced_prices(checked_prices(start, self.bounds))
        return np.concatenate([[found.total], found.rows, found.columns])

    def _checked(self, values: Array) -> Array:
        values = np.ascontiguousarray(as_point(values))
        if values.shape != (self.elements,):
            raise InvalidInput(
                f"the values have the shape {values.shape}; this plan projects vectors of "
                f"{self.elements} values"
            )
        return values
