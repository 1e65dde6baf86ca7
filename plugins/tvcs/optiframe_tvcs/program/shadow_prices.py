"""What one more unit of each bound is worth, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.numbers import quantise
from optiframe_tvcs.program.conditions import NOBODY, WHOLE_VECTOR, Conditions
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.closed import open_values
from optiframe_tvcs.sets.three_view import ThreeView, as_point

_FAR = 2**61  # farther than any path: worths are below 2**50 and a path visits each group once


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
        In the units of the worths. The total's is 0.0 where there is no such bound. Worths are quantised
        first: for bounds of 0 by the largest of all, for the others by the largest that a support can hold.

    Raises
    ------
    InvalidInput
        When the worths are not finite or of another shape.
    """
    over.check_shape(np.shape(worths))
    flat, closed = as_point(worths).reshape(-1), over.plan.closed
    if not np.isfinite(flat).all():
        at = int(np.flatnonzero(~np.isfinite(flat))[0])
        raise InvalidInput(f"worth {at} is {flat[at]}; worths must be finite")
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
    whole, unit = quantise(worths, squared=False)
    selection = over.select(whole)  # whole numbers: best for these without rounding
    conditions = Conditions.of(whole, over.plan.bounds, selection.support)
    left, right, most = conditions.left, conditions.right, conditions.most
    # unknown[left] - unknown[right] <= most: the least value of unknown[a] - unknown[b] is minus the
    # length of the shortest path from b to a over arcs from right to left, so from a to b backwards.
    to_nobody = _distances(NOBODY, left, right, most, conditions.unknowns)
    to_whole = _distances(WHOLE_VECTOR, left, right, most, conditions.unknowns)
    from_nobody = _distances(NOBODY, right, left, most, conditions.unknowns)
    return Prices(
        float(-to_nobody[WHOLE_VECTOR]),
        (-to_whole[conditions.rows]).astype(np.float64),
        (-from_nobody[conditions.columns]).astype(np.float64),
    ).in_units(-unit)


def _distances(
    end: int, tail: NDArray[np.intp], head: NDArray[np.intp], length: NDArray[np.int64], nodes: int
) -> NDArray[np.int64]:
    """Length of the shortest path from each node to `end`, over arcs from `head` to `tail`."""
    distance = np.full(nodes, _FAR, dtype=np.int64)
    distance[end] = 0
    while True:
        before = distance.copy()
        reached = before[tail] < _FAR
        np.minimum.at(distance, head[reached], before[tail[reached]] + length[reached])
        if np.array_equal(distance, before):
            return distance
