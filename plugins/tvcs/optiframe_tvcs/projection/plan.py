"""The projection plan: group structure prepared once, for repeated certified projections."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_tvcs.kernels import reference
from optiframe_tvcs.kernels.answers import Effort
from optiframe_tvcs.kernels.projection import Layout, project, quantise
from optiframe_tvcs.projection.binding import Binding
from optiframe_tvcs.projection.certificate import Bounds, Prices, with_loss
from optiframe_tvcs.projection.closed import closed_elements, open_worths, with_closed
from optiframe_tvcs.projection.report import certificate_of
from optiframe_tvcs.projection.selection import Selection


class ProjectionPlan:
    """Three views prepared for repeated projections: exact, and proved on every call.

    The support program is a transportation problem with a bound on the whole flow. Prices near the
    optimum come from the smoothed dual: up to 3,000 elements on all of them at once, beyond on samples
    first, then on candidates near the thresholds, or from the prices of a similar projection. Shortest
    paths on the graph of groups make them exact, and pricing all elements proves it. When the repair takes
    more than a bounded effort, scaling bit by bit takes over, whose effort is always bounded (the files
    `project`, `search`, `flow` and `certify` in `native`).

    Memory: 12 bytes an element for the plan (8 when elements come sorted by rows), at most 40 while solving
    beside the result. Picklable.

    Parameters
    ----------
    row_labels, column_labels
        Group of each element in each view, -1 for none; shape (p,).
    row_caps, column_caps
        Bound of each group.
    total
        Bound on the whole vector.
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
        self.bounds = Bounds(
            np.ascontiguousarray(row_labels, np.int32),
            np.ascontiguousarray(row_caps, np.int64),
            np.ascontiguousarray(column_labels, np.int32),
            np.ascontiguousarray(column_caps, np.int64),
            int(total),
        )
        self.elements = len(row_labels)

    def __getstate__(self) -> dict[str, Any]:
        return {"bounds": self.bounds, "elements": self.elements}

    def solve(
        self, weights: Array, start: Prices | None = None, *, forced: bool = False, squared: bool = True
    ) -> Selection:
        """The support of greatest total weight, its prices, and the proof.

        Weights are quantised to whole numbers up to 2**50, so that the proof is exact arithmetic, and
        the certificate bounds what that may lose. Those of elements that no support can hold (`closed`)
        count as 0 there and have no part in the scale.

        Parameters
        ----------
        weights
            Real weights, float64, shape (p,); what is not positive is never chosen.
        start
            Prices to start at, in the units of the weights: those of a similar projection.
        forced
            Take the fallback even though the guard has not tripped (for tests).
        squared
            Whether the weights are the squares of a point, so that the certificate's loss is a share of
            the distance to it; else it is one of the weight kept.

        Raises
        ------
        InvalidInput
            When the weights are not finite or not p numbers.
        """
        weights = self._checked(weights)
        support = np.empty(self.elements, np.bool_)
        packed = np.empty(self._prices)
        worths = open_worths(weights, self.closed)
        given = None if start is None else self._packed(start)
        report = project(self._layout, worths, False, given, forced, packed, support, None)
        if report.proof.failures < 0:
            self._refuse(weights)
        rows = len(packed) - int(np.count_nonzero(self._binding.columns))
        prices = self._binding.all_prices(Prices(float(packed[0]), packed[1:rows], packed[rows:]))
        self.effort = report.effort
        certificate = certificate_of(report, self.bounds.total)
        certificate = with_loss(certificate, worths, self.bounds, support, prices, squared=squared)
        found = Selection(support, prices, certificate, self.bounds)
        if self.closed is None:
            return found
        return replace(found, prices=with_closed(prices, self.bounds, self.closed, weights))

    def support(self, weights: Array) -> NDArray[np.bool_]:
        """The support alone, for those who project in a loop; the same as that of `solve`.

        Raises
        ------
        InvalidInput
            As `solve`.
        RuntimeError
            If the support were not proved optimal for the quantised weights: an error of this module.
        """
        weights = self._checked(weights)
        support = np.empty(self.elements, np.bool_)
        worths = open_worths(weights, self.closed)
        report = project(self._layout, worths, False, None, False, np.empty(self._prices), support, None)
        if report.proof.failures < 0:
            self._refuse(weights)
        if report.proof.failures:
            reason = certificate_of(report, self.bounds.total).reason
            raise RuntimeError(f"the projection is not proved: {reason}; please report it")
        return support

    def keep(self, v: Array, given: Array | None = None) -> tuple[Array, Array] | None:
        """The point with the entries of its best support, zero elsewhere, and packed prices for the next.

        None where an entry is not finite or its square beyond ordinary numbers; then ask `support` for
        the squares. It saves the passes that squaring, checking and cutting would take one by one.

        Parameters
        ----------
        v
            Entries, float64, shape (p,).
        given
            What a call for a similar point returned.
        """
        values = open_worths(self._checked(v), self.closed)
        kept, prices = np.empty(self.elements), np.empty(self._prices)
        report = project(self._layout, values, True, given, False, prices, None, kept)
        return None if report.proof.failures else (kept, prices)

    def quantised(self, weights: Array) -> tuple[Array, float]:
        """Whole-number worths, 0 for what no support can hold, and their scale: what a certificate proves."""
        return quantise(open_worths(self._checked(weights), self.closed))

    @cached_property
    def closed(self) -> NDArray[np.bool_] | None:
        """Which elements are in a group with a bound of 0, so that no support holds them; None: none is."""
        return closed_elements(self.bounds)

    @cached_property
    def _binding(self) -> Binding:
        """The groups that can bind; the others are not solved for."""
        return Binding.of(self.bounds)

    @cached_property
    def _layout(self) -> reference.Layout:
        reduced = self._binding.reduced(self.bounds)
        labels = (reduced.row_labels, reduced.column_labels)
        return Layout(*labels, reduced.row_caps, reduced.column_caps, reduced.total)

    @cached_property
    def _prices(self) -> int:
        """Prices that a projection has: of the total and of each group that can bind."""
        return 1 + int(np.count_nonzero(self._binding.rows) + np.count_nonzero(self._binding.columns))

    def _packed(self, start: Prices) -> Array:
        """Prices y0, u, w of the groups solved for in one array."""
        found = self._binding.reduced_prices(start)
        return np.concatenate([[found.total], found.rows, found.columns])

    def _checked(self, weights: Array) -> Array:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if weights.shape != (self.elements,):
            raise InvalidInput(
                f"the plan is for {self.elements} weights, and these have the shape {weights.shape}"
            )
        return weights

    def _refuse(self, weights: Array) -> None:
        bad = np.flatnonzero(~np.isfinite(weights))
        raise InvalidInput(
            f"weight {bad[0]} is {weights[bad[0]]}; weights must be finite (clean the point before)"
        )
