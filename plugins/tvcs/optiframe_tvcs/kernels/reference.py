"""What the kernels compute, in plain NumPy and Python: the exact projection onto a three-view set.

The support program is a transportation problem with a bound on the whole flow (Yang et al., Eq. 5 and
Theorem 2). Sorted sweeps over rounded worths bring prices near the best, and shortest paths on the graph of
groups carry what is left in the wrong group (Ahuja, Magnanti, Orlin 1993, Sec. 9.7), in Python's whole
numbers: worths are not rounded there, and behind each stands what breaks ties, so that one support only is
best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.kernels.answers import Effort, Report
from optiframe_tvcs.kernels.numbers import TIE_BITS, exact_worths, quantise, with_ties
from optiframe_tvcs.kernels.reference_flow import Flow

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SWEEPS = 4  # over both views; more leave no fewer units to repair on random instances
_WARM_SWEEPS = 2  # the same from given prices: they take half the time, and bring prices from afar near


class Layout:
    """The groups and bounds of p elements, prepared for projections.

    Parameters
    ----------
    row, column
        Group of each element in each view, int32, shape (p,); -1 is none.
    row_bounds, column_bounds
        How many elements of each group may be chosen, int64, at least 0.
    total
        How many of all.

    Raises
    ------
    ValueError
        When lengths disagree, a group is out of range, or a bound is negative.
    """

    def __init__(
        self, row: Codes, column: Codes, row_bounds: Counts, column_bounds: Counts, total: int
    ) -> None:
        if len(row) != len(column):
            raise ValueError(f"column has the length {len(column)}, not {len(row)}")
        free = len(row) + 1  # more than can be chosen
        views = []
        for labels, bounds in ((row, row_bounds), (column, column_bounds)):
            if not ((labels >= -1) & (labels < len(bounds))).all() or (bounds < 0).any() or total < 0:
                raise ValueError("a group is out of range, or a bound is negative")
            # One more group, without a bound, for elements in none.
            views.append(
                (np.where(labels < 0, len(bounds), labels), np.append(np.minimum(bounds, free), free))
            )
        (self.row, self.row_bounds), (self.column, self.column_bounds) = views
        self.total = min(total, free)

    def prices(self, packed: Array) -> tuple[float, Array, Array]:
        """Prices y0, u, w out of one array, with those of the groups without a bound, which are 0."""
        rows = len(self.row_bounds)
        if packed.shape != (rows + len(self.column_bounds) - 1,):
            raise ValueError("there must be a price of the total and of each group")
        return float(packed[0]), np.append(packed[1:rows], 0.0), np.append(packed[rows:], 0.0)


def project(  # what is read and what is written, by position
    layout: Layout,
    values: Array,
    squared: bool,
    start: Array | None,
    unit: int,
    forced: bool,
    prices: Array,
    support: Mask | None,
    kept: Array | None,
) -> Report:
    """The support of greatest worth, without rounding, and prices that nearly prove it.

    Among supports of equal worth, that with the greatest sum of numbers that fall with the index
    (`numbers.tie_breaks`). Time here O(p log p + paths * (p + groups log groups)), with as many paths as
    units that the sweeps leave in the wrong group; memory some 500 bytes an element. The kernel takes some 20
    passes over the elements and 40 bytes an element.

    Parameters
    ----------
    layout
        The groups of the p elements.
    values, squared
        Float64, shape (p,): worths, or entries whose squares are. What is not positive is never chosen.
    start, unit
        Prices to begin with in units of 2**unit, in the order of `prices`; None: from nothing.
    forced
        Whether the kernel's fallback answers (for tests); there is none here.
    prices
        Written: y0 of the total, then those of the row groups, then of the column groups, whole numbers of
        the reported unit; float64, shape (1 + groups,).
    support, kept
        Written where given: whether each element is chosen, and its value where it is, else 0; shape (p,).

    Raises
    ------
    ValueError
        When lengths disagree.
    """
    del forced
    if any(each is not None and each.shape != layout.row.shape for each in (values, support, kept)):
        raise ValueError("there must be one value for each element")
    given = None if start is None else layout.prices(start)[2]
    layout.prices(prices)  # of the right length
    if not np.isfinite(values).all():
        return Report(refused=True)
    whole, place = quantise(values, squared)
    y0, u, w = 0.0, np.zeros(len(layout.row_bounds)), np.zeros(len(layout.column_bounds))
    if given is not None:
        known = np.where(given > 0, given, 0.0)
        with np.errstate(over="ignore"):
            w = np.minimum(np.rint(np.ldexp(known, unit - place)), whole.max(initial=0.0))
    for _ in range(_SWEEPS if given is None else _WARM_SWEEPS):
        y0, u = _sweep(whole - w[layout.column], layout.row, layout.row_bounds, layout.total)
        y0, w = _sweep(whole - u[layout.row], layout.column, layout.column_bounds, layout.total)
    exact, finest = exact_worths(values, squared)
    shift = max(place - finest, 0) + 2 * TIE_BITS  # between the units of the sweeps and of the exact numbers
    bounds = (layout.row_bounds, layout.column_bounds, layout.total)
    begin = [[int(price) << shift for price in view.tolist()] for view in (np.array([y0]), u, w)]
    flow = Flow(with_ties(exact, len(exact)), layout.row, layout.column, *bounds, *begin)
    units = flow.units()
    paths = flow.balance()
    chosen, packed = flow.answer()
    prices[:] = [float((price + (1 << shift >> 1)) >> shift) for price in packed]
    if support is not None:
        support[:] = chosen
    if kept is not None:
        kept[:] = np.where(chosen, values, 0.0)
    return Report(unit=place, effort=Effort(candidates=len(values), units=units, paths=paths, rounds=1))


def keep(layout: Layout, values: Array, kept: Array) -> bool:
    """The projection alone: the values of the support of greatest worth of squares, and 0 elsewhere.

    The kernel's call takes a microsecond less than that of `project`, which matters for some 100 elements.

    Parameters
    ----------
    layout
        The groups of the p elements.
    values
        Float64, p numbers of any shape.
    kept
        Written; float64, p numbers of any shape.

    Returns
    -------
    Whether all values are finite; if not, nothing is written.

    Raises
    ------
    TypeError
        When an array is not of float64 in one piece, or `kept` may not be written to.
    ValueError
        When it has not p numbers.
    """
    for each in (values, kept):
        if each.dtype != np.float64 or not each.flags.c_contiguous or not kept.flags.writeable:
            raise TypeError("values and kept must be arrays of float64 in one piece")
    prices = np.empty(len(layout.row_bounds) + len(layout.column_bounds) - 1)
    flat = values.reshape(-1)
    return not project(layout, flat, True, None, 0, False, prices, None, kept.reshape(-1)).refused


def _sweep(worth: Array, group: Codes, bounds: Counts, total: int) -> tuple[float, Array]:
    """The best y0 and prices of one view for fixed prices of the other, by sorting."""
    order = np.lexsort((-worth, group))
    value, of = worth[order], group[order]
    first = np.searchsorted(of, np.arange(len(bounds)))
    rank = np.arange(len(order)) - first[of]
    kept = np.sort(value[rank < bounds[of]])
    y0 = max(float(kept[-1 - total]), 0.0) if total < len(kept) else 0.0
    price = np.zeros(len(bounds))
    at = np.flatnonzero(rank == bounds[of])  # the first that does not fit
    price[of[at]] = np.maximum(value[at] - y0, 0.0)
    return y0, price
