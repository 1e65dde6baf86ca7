"""What the kernels compute, in plain NumPy and Python: the exact projection onto a three-view set.

The support program is a transportation problem with a bound on the whole flow (Yang et al., Eq. 5 and
Theorem 2). Sorted sweeps bring prices near the best, shortest paths on the graph of groups carry what is left
in the wrong group (Ahuja, Magnanti, Orlin 1993, Sec. 9.7), and a check of all elements proves it. Worths and
prices are whole numbers whose sums stay below 2**53, so that nothing is rounded.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.kernels.answers import Effort, Proof, Report
from optiframe_tvcs.kernels.reference_flow import Flow

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SWEEPS = 4  # over both views; more leave no fewer units to repair on random instances
_WARM_SWEEPS = 2  # the same from given prices: they take half the time, and bring prices from afar near
_LEAST, _MOST = 1e-75, 1e75  # entries whose squares are ordinary numbers


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


def quantise(worths: Array) -> tuple[Array, float]:
    """Whole-number worths up to 2**50 (still float64), and how many of them make one unit.

    A reduced worth adds four such numbers: 2**52, exact in float64. ``whole / scale`` is within ``1 / scale``
    of each worth. What is positive stays positive, so that whatever fits is kept; what is not becomes 0 and
    is never chosen. The scale is a power of two, so that whole-number worths up to 2**49 are kept exactly.

    Parameters
    ----------
    worths
        Real worths, float64, shape (p,).

    Returns
    -------
    whole, scale
        With k elements chosen, the best support for `whole` loses at most ``2 k / scale`` of the best
        for `worths`, that is ``k * 2**-48`` of the largest worth.

    Raises
    ------
    ValueError
        When a worth is not finite.
    """
    if not np.isfinite(worths).all():
        raise ValueError("worths must be finite")
    largest = float(np.max(worths, initial=0.0))
    if largest <= 0:
        return np.zeros(len(worths)), 1.0
    # frexp: largest = m * 2**e with m < 1, so largest * 2**(50 - e) < 2**50. The cap on the
    # exponent keeps the scale a finite number where all worths are tiny.
    exponent = min(50 - math.frexp(largest)[1], 1000)
    scale = math.ldexp(1.0, exponent)
    whole = np.rint(np.maximum(worths, 0.0) * scale)
    np.maximum(whole, 1.0, out=whole, where=worths > 0)
    return whole, scale


def project(  # what is read and what is written, by position
    layout: Layout,
    values: Array,
    squared: bool,
    start: Array | None,
    forced: bool,
    prices: Array,
    support: Mask | None,
    kept: Array | None,
) -> Report:
    """The support of greatest worth, its prices, and the proof.

    Time here O(p log p + paths * (p + groups log groups)), with as many paths as units that the sweeps leave
    in the wrong group; memory about 200 bytes an element. The kernel takes some 20 passes over the elements
    and 40 bytes an element. Among supports that tie the two may choose different ones.

    Parameters
    ----------
    layout
        The groups of the p elements.
    values, squared
        Float64, shape (p,): worths, or entries whose squares are. What is not positive is never chosen.
    start
        Prices to begin with in the units of the worths, as `prices`; None: from nothing.
    forced
        Whether the kernel's fallback answers (for tests); there is none here.
    prices
        Written: y0 of the total, then those of the row groups, then of the column groups, in the units of the
        worths; float64, shape (1 + groups,).
    support, kept
        Written where given: whether each element is chosen, and its value where it is, else 0; shape (p,).
        Nothing is written where `Proof.failures` is -1.

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
    largest = float(np.max(np.abs(values), initial=0.0))
    if not math.isfinite(largest) or (squared and largest > 0 and not _LEAST < largest < _MOST):
        return Report(proof=Proof(failures=-1))
    worths = np.maximum(np.square(values), (values != 0) * math.ulp(0.0)) if squared else values
    whole, scale = quantise(worths)
    w = np.zeros(len(layout.column_bounds))
    if given is not None:
        most = whole.max(initial=0.0) / scale
        w = np.rint(np.where(given > 0, np.minimum(given, most), 0.0) * scale)
    for _ in range(_SWEEPS if given is None else _WARM_SWEEPS):
        y0, u = _sweep(whole - w[layout.column], layout.row, layout.row_bounds, layout.total)
        y0, w = _sweep(whole - u[layout.row], layout.column, layout.column_bounds, layout.total)
    bounds = (layout.row_bounds, layout.column_bounds, layout.total)
    flow = Flow(whole, layout.row, layout.column, *bounds, y0, u, w)
    units = flow.units()
    paths = flow.balance()
    chosen, y0, u, w = flow.answer()
    packed = np.concatenate([[y0], u[:-1], w[:-1]])
    proof = verify(layout, whole, chosen, packed)
    prices[:] = packed / scale
    if support is not None:
        support[:] = chosen
    if kept is not None:
        kept[:] = np.where(chosen, values, 0.0)
    effort = Effort(candidates=len(values), units=units, paths=paths, rounds=1)
    return Report(scale, int(np.count_nonzero(whole)), int(np.count_nonzero(chosen)), effort, proof)


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


def verify(layout: Layout, whole: Array, support: Mask, prices: Array) -> Proof:
    """Check complementary slackness of a support and prices over all elements and bounds, without rounding.

    Nothing is taken on trust: a broken bound, a price of a bound that is not used up, a chosen element
    without worth and a reduced worth of the wrong sign all fail.

    Parameters
    ----------
    layout
        The groups of the p elements.
    whole
        Worths, whole numbers from 0 to 2**50, float64, shape (p,).
    support
        Which elements are chosen, shape (p,).
    prices
        As `project` writes them, in whole units: whole numbers from 0 to 2**50.

    Raises
    ------
    ValueError
        When lengths disagree, or numbers are not whole or out of range.
    """
    if whole.shape != layout.row.shape or support.shape != layout.row.shape:
        raise ValueError("there must be one worth for each element")
    for numbers in (whole, prices):
        if not ((numbers >= 0) & (numbers <= 2.0**50) & (numbers == np.floor(numbers))).all():
            raise ValueError("worths and prices must be whole numbers from 0 to 2**50")
    y0, u, w = layout.prices(prices)
    reduced = whole - (y0 + u[layout.row] + w[layout.column])
    failing = np.where(support, -reduced, reduced)
    failures = np.count_nonzero((failing > 0) | (support & (whole <= 0)))
    bound = sum(int(each) for each in reduced[reduced > 0])
    for labels, bounds, price in (
        (layout.row, layout.row_bounds, u),
        (layout.column, layout.column_bounds, w),
        (np.zeros_like(layout.row), np.array([layout.total]), np.array([y0])),
    ):
        count = np.bincount(labels[support], minlength=len(bounds))
        failures += np.count_nonzero((count > bounds) | ((price > 0) & (count < bounds)))
        bound += sum(int(one) * int(many) for one, many in zip(price, bounds, strict=True))
    worst = int(np.argmax(failing)) if (failing > 0).any() else -1
    worth = sum(int(each) for each in whole[support])
    return Proof(int(failures), worth, bound, worst, int(failing[worst]) if worst >= 0 else 0)
