"""The projection plan: group structure prepared once, for repeated certified projections."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_tvcs.projection import small
from optiframe_tvcs.projection.binding import Binding
from optiframe_tvcs.projection.certificate import Bounds, Prices, check, with_loss
from optiframe_tvcs.projection.closed import closed_elements, open_worths, with_closed
from optiframe_tvcs.projection.layouts import Codes, Counts, Grouped, direct_layout, sampled_layout
from optiframe_tvcs.projection.prepared import uses_compiled
from optiframe_tvcs.projection.report import REPORT, Effort, read_report
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.projection.worths import quantise

_DIRECT = 3000  # elements up to which all are one list
_NO_SUPPORT, _NO_VALUES = np.empty(0, np.bool_), np.empty(0)


class ProjectionPlan:
    """Three views prepared for repeated projections: exact, and proved on every call.

    The support program is a transportation problem with a bound on the whole flow. Prices near the
    optimum come from the smoothed dual: up to 3,000 elements on all of them at once (`kernels.direct`),
    beyond on samples first, then on candidates near the thresholds (`kernels.search`), or from the
    prices of a similar projection (`kernels.warm_start`). Shortest paths on the graph of groups make them
    exact, and pricing all elements proves it (`kernels.certify`). When the repair takes more than a
    bounded effort, scaling bit by bit takes over (`kernels.scaling`), whose effort is always bounded.

    Up to 2,000 elements, unless `optiframe_tvcs.prepare()` was called, and without numba, a plain NumPy
    path answers (`small`). Memory: 12
    bytes an element for the plan (8 when elements come sorted by rows), at most 40 while solving
    beside the result. Picklable.

    Parameters
    ----------
    row_labels, column_labels
        Group of each element in each view, -1 for none; int32, shape (p,).
    row_caps, column_caps
        Bound of each group, int64.
    total
        Bound on the whole vector.
    """

    effort: Effort | None = None

    def __init__(
        self, row_labels: Codes, row_caps: Counts, column_labels: Codes, column_caps: Counts, total: int
    ) -> None:
        self.bounds = Bounds(row_labels, row_caps, column_labels, column_caps, int(total))
        self.elements = len(row_labels)

    def __getstate__(self) -> dict[str, Any]:
        return {"bounds": self.bounds, "elements": self.elements}

    def solve(
        self,
        weights: Array,
        start: Prices | None = None,
        *,
        compiled: bool | None = None,
        forced: bool = False,
        squared: bool = True,
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
        compiled
            Whether to use compiled code; None: beyond 2,000 elements, or after `prepare()`.
        forced
            Take the fallback even though the guard has not tripped (for tests; compiled only).
        squared
            Whether the weights are the squares of a point, so that the certificate's loss is a share of
            the distance to it; else it is one of the weight kept.

        Raises
        ------
        InvalidInput
            When the weights are not finite or not p numbers.
        """
        weights = self._checked(weights)
        if compiled is None:
            compiled = uses_compiled(self.elements)
        if compiled:
            found = self._compiled(weights, start, forced, squared)
        else:
            self._check_finite(weights)
            found = self._plain(weights, start, squared)
        if self.closed is None:
            return found
        return replace(found, prices=with_closed(found.prices, self.bounds, self.closed, weights))

    def quantised(self, weights: Array) -> tuple[Array, float]:
        """Whole-number worths, 0 for what no support can hold, and their scale: what a certificate proves."""
        return quantise(open_worths(weights, self.closed))

    def _check_finite(self, weights: Array) -> None:
        bad = np.flatnonzero(~np.isfinite(weights))
        if bad.size:
            raise InvalidInput(
                f"weight {bad[0]} is {weights[bad[0]]}; weights must be finite (clean the point before)"
            )

    def _plain(self, weights: Array, start: Prices | None, squared: bool) -> Selection:
        worths = open_worths(weights, self.closed)
        whole, scale = quantise(worths)
        row, column, row_caps, column_caps, total = self._all_grouped
        given = None
        if start is not None:
            columns = np.append(self._binding.reduced_prices(start).columns, 0.0)
            given = np.minimum(np.rint(columns * scale), whole.max(initial=0.0))
        support, y0, u, w = small.select(whole, row, column, row_caps, column_caps, total, given)
        prices = self._binding.all_prices(Prices(float(y0), u[:-1], w[:-1]))
        self.effort = Effort("plain")
        certificate = check(whole, self.bounds, support, prices, scale, worths=worths, squared=squared)
        return Selection(support, prices.times(1 / scale), certificate, self.bounds)

    @cached_property
    def closed(self) -> NDArray[np.bool_] | None:
        """Which elements are in a group with a bound of 0, so that no support holds them; None: none is."""
        return closed_elements(self.bounds)

    @cached_property
    def _binding(self) -> Binding:
        """The groups that can bind; the others are not solved for."""
        return Binding.of(self.bounds)

    @cached_property
    def _groups(self) -> tuple[int, int]:
        """Row groups solved for, and groups of both views; the last of each holds elements in none."""
        rows = int(np.count_nonzero(self._binding.rows)) + 1
        return rows, rows + int(np.count_nonzero(self._binding.columns)) + 1

    @property
    def _all_grouped(self) -> Grouped:
        """The views with every element in a group of each: those in none that can bind in the last."""
        return Grouped.of(self._binding.reduced(self.bounds))

    @cached_property
    def _direct_layout(self) -> tuple[Any, ...]:
        return direct_layout(self._all_grouped)

    @cached_property
    def _layout(self) -> tuple[Any, ...]:
        return sampled_layout(self._all_grouped)

    def keep(self, v: Array, given: Array | None = None) -> tuple[Array, Array] | None:
        """The point with the entries of its best support, zero elsewhere, and packed prices for the next.

        None where it cannot say: no compiled code serves, or an entry is not finite or its square
        beyond ordinary numbers; then ask `support` for the squares. It saves the passes that squaring,
        checking and cutting would take one by one.

        Parameters
        ----------
        v
            Entries, float64, shape (p,).
        given
            What a call for a similar point returned.
        """
        if not uses_compiled(self.elements):
            return None
        kept = np.empty(self.elements)
        failures, scale, prices, _ = self._run(v, True, given, False, _NO_SUPPORT, kept)
        if failures:
            return None
        prices *= 1 / scale
        return kept, prices

    def support(self, weights: Array) -> NDArray[np.bool_]:
        """The support alone, for those who project in a loop; the same as that of `solve`.

        Raises
        ------
        InvalidInput
            As `solve`.
        RuntimeError
            If the support were not proved optimal for the quantised weights: an error of this module.
        """
        if uses_compiled(self.elements):
            weights = self._checked(weights)
            support = np.empty(self.elements, np.bool_)
            failures = self._run(weights, False, None, False, support, _NO_VALUES)[0]
            if failures == 0:
                return support
        found = self.solve(weights)
        if not found.certificate.exact:
            raise RuntimeError(f"the projection is not proved: {found.certificate.reason}; please report it")
        return found.support

    def _checked(self, weights: Array) -> Array:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if weights.shape != (self.elements,):
            raise InvalidInput(
                f"the plan is for {self.elements} weights, and these have the shape {weights.shape}"
            )
        return weights

    def _run(  # noqa: PLR0917  # arrays that compiled code fills
        self,
        values: Array,
        squared: bool,
        given: Array | None,
        forced: bool,
        support: NDArray[np.bool_],
        kept: Array,
    ) -> tuple[int, float, Array, Counts]:
        """One call of compiled code: failures, scale, prices (y0, u, w) in whole units, and its report."""
        from optiframe_tvcs.kernels import driver as compiled  # numba is loaded on use

        # Else all would be compiled once more: for what is not written, or not in one piece.
        values = np.ascontiguousarray(open_worths(values, self.closed))
        if not values.flags.writeable:
            values = values.copy()
        prices = np.empty(1 + self._groups[1])
        warm = given is not None
        if given is not None:
            prices[:] = given
        report = np.empty(REPORT, np.int64)
        if self.elements <= _DIRECT and not forced:
            failures, scale = compiled.direct(
                values, squared, *self._direct_layout, warm, prices, support, kept, report
            )
        else:
            failures, scale = compiled.project(
                values, squared, *self._layout, warm, forced, prices, support, kept, report
            )
        return failures, scale, prices, report

    def _packed(self, start: Prices) -> Array:
        """Prices y0, u, w of the groups solved for in one array, as compiled code takes them."""
        found = self._binding.reduced_prices(start)
        return np.concatenate([[found.total], found.rows, [0.0], found.columns, [0.0]])

    def _compiled(self, weights: Array, start: Prices | None, forced: bool, squared: bool) -> Selection:
        support = np.empty(self.elements, np.bool_)
        given = None if start is None else self._packed(start)
        failures, scale, prices, report = self._run(weights, False, given, forced, support, _NO_VALUES)
        if failures < 0:
            self._check_finite(weights)
        self.effort, certificate = read_report(report, failures, scale, self.bounds.total)
        rows, _ = self._groups
        prices *= 1 / scale
        found = self._binding.all_prices(Prices(float(prices[0]), prices[1:rows], prices[1 + rows : -1]))
        worths = open_worths(weights, self.closed)
        certificate = with_loss(certificate, worths, self.bounds, support, found, squared=squared)
        return Selection(support, found, certificate, self.bounds)
