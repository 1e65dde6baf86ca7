"""Where the path of Huber-LASSO reaches a share of outliers, found between two values of a grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.huber.grid_states import State, crossing, on_the_line
from optiframe_hodgerank.huber.newton import HuberNewton
from optiframe_hodgerank.path.path import NEAR, Path

_FINE = 1e-8
"""Relative accuracy of the lambda at which the share is reached. The answer is where the next row enters,
which a straight line tells from there to more digits, if no other row enters in between."""
_ASIDE = 1e-3  # of the interval: so far below and above the foretold lambda it is closed in on
_SLOPE = 1e-9  # slopes that agree to so much are equal


class Reached(NamedTuple):
    """Where a share of outliers ends the path.

    Parameters
    ----------
    within
        A point just above the end, with the outliers there.
    end
        Lambda and scores at the end.
    more
        How many of the caller's rows would be flagged beyond it, where that is too many; None: it is not.
    loose
        A point just beyond, where the rows that come there leave parts of the items loose; None: none do.
    """

    within: State
    end: tuple[float, Array]
    more: int | None = None
    loose: State | None = None


def reach(share: float, newton: HuberNewton, path: Path, short: State, reaching: State) -> Reached:
    """The end of the path between a point short of this share and one reaching it.

    As on the exact path: where the next row arrives at its threshold once the share is reached, so that
    those that entered have an outlier. Where the rows that would reach the share exceed it, or leave parts
    of the items loose, it is where they arrive.
    """
    graph, turn, most = newton.graph, 0, path.most(share)
    while short.level - reaching.level > _FINE * reaching.level:
        gap = short.level - reaching.level
        level = (short.level + reaching.level) / 2
        if turn % 3 < 2:  # just below what a line foretells, then just above; then halve, to be sure
            foretold = _foretold(share, path, short, reaching) + (_ASIDE if turn % 3 else -_ASIDE) * gap
            level = float(
                np.clip(foretold, reaching.level + _ASIDE * gap / 2, short.level - _ASIDE * gap / 2)
            )
        turn += 1
        tried = State.of(graph, level, newton.scores(level, on_the_line(level, short, reaching)))
        if path.stands_for(tried.beyond(graph)) >= most:
            reaching = tried
        else:
            short = tried
    at_threshold = 2 * NEAR * graph.largest_margin
    parts = [newton.parts(state.level + at_threshold, state.scores) for state in (short, reaching)]
    more = path.stands_for(reaching.beyond(graph))
    loose = reaching if parts[1] > parts[0] else None
    if more > most or loose is not None:
        end = next_arrival(newton, short)
        if not reaching.level <= end[0] <= short.level:  # what arrives is at its threshold but for rounding
            end = short.level, short.scores
        return Reached(short, end, more, loose)
    return Reached(reaching, next_arrival(newton, reaching))


def _foretold(share: float, path: Path, short: State, reaching: State) -> float:
    """The lambda that reaches the share, were the path straight in between."""
    before, after = short.beyond(path.graph), reaching.beyond(path.graph)
    fresh = np.flatnonzero(after & ~before)
    at = crossing(short, reaching, fresh)
    order = np.argsort(-at, kind="stable")
    enough = path.first_enough(before & after, fresh[order], share)
    return reaching.level if enough is None else float(at[order[enough]])


def next_arrival(newton: HuberNewton, state: State) -> tuple[float, Array]:
    """Lambda and scores where the next row below arrives at its threshold; lambda is 0 where none does."""
    graph, (level, scores, misfit) = newton.graph, state
    out = state.beyond(graph)
    slope = newton.slope(level + NEAR * graph.largest_margin, scores, np.where(out, np.sign(misfit), 0.0))
    moves, near = graph.differences(slope), NEAR * graph.largest_margin
    to_go = np.inf
    for side in (1.0, -1.0):
        # A row at this end of the threshold is `left` from it, and comes nearer by `rate` as lambda falls.
        left, rate = level - side * misfit, 1.0 + side * moves
        flagged = out & (side * misfit > 0)
        coming = np.where(flagged, (left < -near) & (rate < -_SLOPE), ~out & (left > near) & (rate > _SLOPE))
        to_go = min(to_go, float((left[coming] / rate[coming]).min(initial=np.inf)))
    if level - to_go <= near:  # the last line leads straight to the end
        return 0.0, np.asarray(scores - level * slope)
    return level - to_go, newton.scores(level - to_go, scores - to_go * slope)
