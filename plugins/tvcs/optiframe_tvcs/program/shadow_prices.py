"""What one more unit of each bound is worth, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.projection import quantise
from optiframe_tvcs.program.conditions import NOBODY, WHOLE_VECTOR, Conditions
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.closed import open_worths
from optiframe_tvcs.sets.three_view import ThreeView

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
    flat, closed = np.asarray(worths, dtype=np.float64).reshape(-1), over.plan.closed
    found = _shadow_prices(over, open_worths(flat, closed))
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
    whole, scale = quantise(worths)
    selection = over.select(whole / scale)  # in the unit of `whole` or a finer one: best for `whole`, too
    if not selection.certificate.exact:
        raise InvalidInput(
            "the support for these worths could not be proved best, so it has no exact shadow prices"
        )
    conditions = Conditions.of(whole, over.plan.bounds, selection.support)
    left, right, most = conditions.left, conditions.right, conditions.most
    # unknown[left] - unknown[right] <= most: the least value of unknown[a] - unknown[b] is minus the
    # length of the shortest path from b to a over arcs from right to left, so from a to b backwards.
    to_nobody = _distances(NOBODY, left, right, most, conditions.unknowns)
    to_whole = _distances(WHOLE_VECTOR, left, right, most, conditions.unknowns)
    from_nobody = _distances(NOBODY, right, left, most, conditions.unknowns)
    return Prices(
        float(-to_nobody[WHOLE_VECTOR]) / scale,
        (-to_whole[conditions.rows]) / scale,
        (-from_nobody[conditions.columns]) / scale,
    )


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
