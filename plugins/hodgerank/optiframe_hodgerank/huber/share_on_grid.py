"""Where the path of Huber-LASSO reaches a share of outliers, found between two values of a grid."""

from __future__ import annotations

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


def reach(
    share: float, newton: HuberNewton, path: Path, short: State, reaching: State
) -> tuple[State, State, tuple[float, Array] | None]:
    """Between a point short of this share and one reaching it: both close together, and the end of the path.

    The end is a lambda and the scores there: as on the exact path, where the next row arrives at its
    threshold once the share is reached, so that those that entered have an outlier. None where the rows
    that would reach the share leave parts of the items loose: no share is then any better founded
    than that at the point short of it.
    """
    graph, turn = newton.graph, 0
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
        if path.is_enough(path.share_of(tried.beyond(graph)), share):
            reaching = tried
        else:
            short = tried
    at_threshold = 2 * NEAR * graph.largest_margin
    parts = [newton.parts(state.level + at_threshold, state.scores) for state in (short, reaching)]
    if parts[1] > parts[0]:
        return short, reaching, None
    return short, reaching, next_arrival(newton, reaching)


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
