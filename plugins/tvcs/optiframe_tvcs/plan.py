"""The projection plan: group structure prepared once, for repeated certified projections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.values import Array
from optiframe_tvcs import small
from optiframe_tvcs.certificate import Bounds, Certificate, Prices, Selection, check, quantise
from optiframe_tvcs.prepared import uses_compiled

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

_SAMPLES = (32, 140)  # elements a group in the lists on which prices are first found
_SPARSE = 0.22  # of all elements: a larger sample saves nothing
_WINDOW = 2.5  # standard deviations of a sampled price in which elements stay candidates
_WARM_WINDOW = 1.0  # the same for given prices
_KEEP = 24.0  # candidates a group for the repair
_WORK = (200, 1_000_000)  # arcs an element, and besides, that a repair may look at before the fallback


@dataclass(frozen=True)
class Effort:
    """How the last projection of a plan was found.

    Parameters
    ----------
    path
        "plain" (NumPy), "compiled", or "fallback" (compiled, and the guard tripped).
    candidates
        Elements that the repair looked at first.
    units
        Units that the smoothed prices left in the wrong place.
    paths, arcs
        Paths along which units were carried, and arcs looked at.
    rounds
        Lists of candidates that the repair needed; 1 when the first held all that mattered.
    """

    path: str
    candidates: int = 0
    units: int = 0
    paths: int = 0
    arcs: int = 0
    rounds: int = 0


class ProjectionPlan:
    """Three views prepared for repeated projections: exact, and proved on every call.

    The support program is a transportation problem with a bound on the whole flow. Prices near the
    optimum come from the smoothed dual, on samples first, then on candidates near the
    thresholds; shortest paths on the graph of groups make them exact, and pricing all
    elements proves it (`dual_kernels`, `repair_kernels`). When the repair takes more than a bounded
    effort, scaling bit by bit takes over (`scaling_kernels`), whose effort is bounded for every input.

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
    ) -> Selection:
        """The support of greatest total weight, its prices, and the proof.

        Weights are quantised to whole numbers up to 2**50, so that the proof is exact arithmetic.

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

        Raises
        ------
        InvalidInput
            When the weights are not finite or not p numbers.
        """
        weights = self._checked(weights)
        if compiled is None:
            compiled = uses_compiled(self.elements)
        if compiled:
            return self._compiled(weights, start, forced)
        self._check_finite(weights)
        return self._plain(weights, start)

    def _check_finite(self, weights: Array) -> None:
        bad = np.flatnonzero(~np.isfinite(weights))
        if bad.size:
            raise InvalidInput(
                f"weight {bad[0]} is {weights[bad[0]]}; weights must be finite (clean the point before)"
            )

    def _plain(self, weights: Array, start: Prices | None) -> Selection:
        whole, scale = quantise(weights)
        row, column, row_caps, column_caps, total = self._all_grouped
        given = None
        if start is not None:
            rows, columns = np.append(start.rows, 0.0), np.append(start.columns, 0.0)
            most = float(whole.max(initial=0.0))
            given = (
                min(float(np.rint(start.total * scale)), most),
                np.minimum(np.rint(rows * scale), most),
                np.minimum(np.rint(columns * scale), most),
            )
        support, y0, u, w = small.select(whole, row, column, row_caps, column_caps, total, given)
        prices = Prices(float(y0), u[:-1], w[:-1])
        self.effort = Effort("plain")
        return Selection(support, prices.times(1 / scale), check(whole, self.bounds, support, prices, scale))

    @property
    def _all_grouped(self) -> tuple[Codes, Codes, Counts, Counts, int]:
        """The views with one more group each, without a bound, for elements in no group."""
        rows, row_caps, columns, column_caps, total = self.bounds
        free = self.elements + 1  # more than can be chosen
        return (
            np.where(rows < 0, len(row_caps), rows).astype(np.int32),
            np.where(columns < 0, len(column_caps), columns).astype(np.int32),
            np.append(np.minimum(row_caps, free), free).astype(np.int64),
            np.append(np.minimum(column_caps, free), free).astype(np.int64),
            min(total, free),
        )

    @cached_property
    def _layout(self) -> tuple[Any, ...]:
        """Elements in the order of their rows, bounds, and samples: what the compiled code takes."""
        row, column, row_caps, column_caps, total = self._all_grouped
        if (row[1:] >= row[:-1]).all():
            order = np.empty(0, np.int32)
        else:
            order = np.argsort(row, kind="stable").astype(np.int32)
            row, column = row[order], column[order]
        row_length = np.bincount(row, minlength=len(row_caps)).astype(np.float64)
        column_length = np.bincount(column, minlength=len(column_caps)).astype(np.float64)
        first = np.concatenate([[0], np.cumsum(row_length)]).astype(np.int64)
        samples: list[Any] = []
        # The same elements every time: the answer does not depend on them, only its time.
        coin = np.random.default_rng(0).random(self.elements, dtype=np.float32)
        share_r = (1 / np.maximum(row_length, 1)).astype(np.float32)
        share_c = (1 / np.maximum(column_length, 1)).astype(np.float32)
        for size in _SAMPLES:
            # so many of each group on average, and all of a group that is smaller
            chance = np.maximum(share_r[row], share_c[column])
            chance *= size
            place = np.flatnonzero(coin < chance).astype(np.int32)
            if len(place) > _SPARSE * self.elements:
                place = place[:0]
            copies = 1 / np.minimum(chance[place], 1).astype(np.float64)
            samples += [np.searchsorted(place, first).astype(np.int64), column[place], place, copies]
        return (
            order, first, column, row_length, column_length, row_caps, column_caps, total, *samples,
        )  # fmt: skip

    def support(self, weights: Array) -> NDArray[np.bool_]:
        """The support alone, for those who project in a loop; the same as that of `solve`.

        Raises
        ------
        InvalidInput
            As `solve`.
        RuntimeError
            If the support were not proved optimal, which would be an error of this module.
        """
        if uses_compiled(self.elements):
            weights = self._checked(weights)
            support = np.empty(self.elements, np.bool_)
            record, sums = np.zeros(8, np.int64), np.zeros(6, np.int64)
            failures = self._run(weights, None, False, support, sums, record)[0]
            if failures == 0:
                return support
        found = self.solve(weights)
        if not found.certificate.holds:
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
        weights: Array,
        start: Prices | None,
        forced: bool,
        support: NDArray[np.bool_],
        sums: Counts,
        record: Counts,
    ) -> tuple[int, float, float, Array, Array]:
        """One call of the compiled driver: failures, scale, and the prices in whole units."""
        from optiframe_tvcs.compiled import project  # numba is loaded on use

        layout = self._layout
        u, w, y0 = np.zeros(len(layout[5])), np.zeros(len(layout[6])), 0.0
        if start is not None:
            u[:-1], w[:-1], y0 = start.rows, start.columns, start.total
        failures, scale, y0 = project(
            weights, *layout, start is not None, y0, u, w, _WINDOW if start is None else _WARM_WINDOW,
            _KEEP, _WORK[0] * self.elements + _WORK[1], forced, support, sums, record,
        )  # fmt: skip
        return failures, scale, y0, u, w

    def _compiled(self, weights: Array, start: Prices | None, forced: bool) -> Selection:
        support = np.empty(self.elements, np.bool_)
        record, sums = np.zeros(8, np.int64), np.zeros(6, np.int64)
        failures, scale, y0, u, w = self._run(weights, start, forced, support, sums, record)
        if failures < 0:
            self._check_finite(weights)
        seen = record.tolist()
        self.effort = Effort(
            "fallback" if seen[3] else "compiled", seen[5], seen[6], seen[0], seen[1], seen[7]
        )
        u *= 1 / scale
        w *= 1 / scale
        return Selection(
            support,
            Prices(y0 / scale, u[:-1], w[:-1]),
            _certificate(failures, sums.tolist(), scale, seen[2] + min(self.bounds.total, seen[4])),
        )


def _certificate(failures: int, sums: list[int], scale: float, at_most: int) -> Certificate:
    """The certificate from the compiled check, whose sums come in two parts."""
    primal, dual = (sums[0] << 26) + sums[1], (sums[2] << 26) + sums[3]
    worst = sums[4] if sums[4] >= 0 else None
    reason = ""
    if failures:
        reason = "a bound is broken, or has a price and is not used up"
        if worst is not None:
            reason = f"element {worst} has a reduced worth of the wrong sign"
    return Certificate(
        holds=failures == 0,
        primal=primal / scale,
        dual=dual / scale,
        gap=(dual - primal) / scale,
        worst=worst,
        failure=sums[5] / scale,
        rounding=at_most / scale,
        reason=reason,
    )
