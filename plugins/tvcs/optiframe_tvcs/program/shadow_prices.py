"""What one more unit of each bound is worth, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.kernels.numbers import exact_worths, quantise, times_power
from optiframe_tvcs.program.conditions import NOBODY, WHOLE_VECTOR, Conditions
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.checked import as_point, refuse_infinite
from optiframe_tvcs.projection.closed import open_values
from optiframe_tvcs.sets.three_view import ThreeView

_WIDE = 2.0**26  # largest worth over the smallest: beyond, rounding to a share of the largest loses too much


def shadow_prices(over: ThreeView, worths: Array) -> Prices:
    """How much the best total worth would rise with one more unit of each bound, the others as they are.

    The prices of a selection bound these from above; where supports tie or several bounds are used up
    together, prices are not unique and may be larger. The shadow price is the smallest price that any
    proof of the best support allows: a shortest path in the graph of groups, three times Bellman and
    Ford. Time O(p + groups) a round, as many rounds as a path is long (at most the number of groups).

    Parameters
    ----------
    over
        The set.
    worths
        Real worths of the elements, of a point's shape; for a projection the point squared.

    Returns
    -------
    Prices
        In the units of the worths. The total's is 0.0 where there is no such bound. Where the largest worth
        is over 2^26 times the smallest above 0, all count exactly, in Python's whole numbers, which takes two
        to ten times as long. Otherwise they are rounded to 2^-50 of the largest that a support can hold (for
        bounds of 0: of the largest), and are inf where that is beyond float64.

    Raises
    ------
    InvalidInput
        When the worths are not finite or of another shape.
    """
    worths = as_point(worths)
    over.check_shape(worths.shape)
    refuse_infinite(worths, "worths")
    flat, closed = worths.reshape(-1), over.plan.closed
    found = _shadow_prices(over, open_values(flat, closed))
    if closed is None:
        return found
    every = _shadow_prices(over, flat)  # of which the groups with a bound of 0 are taken, in their own unit
    rows, columns = over.views
    return Prices(
        found.total,
        np.where(rows.caps > 0, found.rows, every.rows),
        np.where(columns.caps > 0, found.columns, every.columns),
    )


def _shadow_prices(over: ThreeView, worths: Array) -> Prices:
    whole, unit = _whole(worths)
    # Whole numbers that were rounded are best for themselves alone.
    selection = over.select(worths if whole.dtype == object else whole.astype(np.float64))
    conditions = Conditions.of(whole, over.plan.bounds, selection.support)
    left, right, most = conditions.left, conditions.right, conditions.most
    # unknown[left] - unknown[right] <= most: the least value of unknown[a] - unknown[b] is minus the
    # length of the shortest path from b to a over arcs from right to left, so from a to b backwards.
    to_nobody = _distances(NOBODY, left, right, most, conditions.unknowns)
    to_whole = _distances(WHOLE_VECTOR, left, right, most, conditions.unknowns)
    from_nobody = _distances(NOBODY, right, left, most, conditions.unknowns)
    total, rows, columns = (
        _real(-each, unit)
        for each in (
            to_nobody[[WHOLE_VECTOR]],
            to_whole[conditions.rows],
            from_nobody[conditions.columns],
        )
    )
    return Prices(total.item(), rows, columns)


def _whole(worths: Array) -> tuple[NDArray[Any], int]:
    """Worths as whole numbers, rounded unless that loses too much, and the place of their unit."""
    positive = worths[worths > 0]
    if positive.size and positive.max() / _WIDE > positive.min():
        exact, unit = exact_worths(worths, squared=False)
        return np.array(exact, dtype=object), unit
    rounded, unit = quantise(worths, squared=False)
    return rounded.astype(np.int64), unit


def _real(units: NDArray[Any], place: int) -> Array:
    """Whole numbers of at least 0, of a unit of ``2**place``, as the nearest float64; inf beyond."""
    found = []
    for n in map(int, units):
        more = max(n.bit_length() - 64, 0)  # bits of which the nearest number needs one, whether any is set
        found.append(times_power(n >> more | bool(n & (1 << more) - 1), place + more))
    return np.array(found)


def _distances(
    end: int, tail: NDArray[np.intp], head: NDArray[np.intp], length: NDArray[Any], nodes: int
) -> NDArray[Any]:
    """Length of the shortest path from each node to `end`, over arcs from `head` to `tail`."""
    # A path visits each group once; rounded worths are below 2**50.
    far = 2**61 if length.dtype != object else (max(map(abs, length)) + 1) * nodes
    distance = np.full(nodes, far, dtype=length.dtype)
    distance[end] = 0
    while True:
        before = distance.copy()
        reached = before[tail] < far
        np.minimum.at(distance, head[reached], before[tail[reached]] + length[reached])
        if np.array_equal(distance, before):
            return distance
