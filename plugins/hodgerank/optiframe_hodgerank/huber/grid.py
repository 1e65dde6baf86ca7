"""Huber-LASSO at given values of lambda, each solved from the ones before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.huber.grid_states import State, note, on_the_line
from optiframe_hodgerank.huber.newton import EXACT, HuberNewton, least_squares
from optiframe_hodgerank.huber.share_on_grid import next_arrival, reach
from optiframe_hodgerank.path.inlier_graph import parts
from optiframe_hodgerank.path.path import NEAR, Path

_DECADES = 4
"""A grid ends so many factors of ten below the largest lambda: to go on costs a solve a value, and what is
then unexplained is a hundredth of a per cent of a margin."""


class HuberGrid:
    """Follows the path of Huber-LASSO by values of lambda, each solved from the ones before.

    Begins at the largest misfit of least squares, where no row is an outlier; each lambda is
    10^(-1/per_decade) times the one before, until 10^-4 of the first, or that asked for; one below
    that is reached in one step. With a `share`, the end is where the exact path has it, found between
    two values (`optiframe_hodgerank.huber.share_on_grid`).
    """

    def __init__(
        self, graph: ComparisonGraph, per_decade: int, share: float | None = None, accuracy: float = EXACT
    ) -> None:
        self.graph, self._per_decade, self._share = graph, per_decade, share
        self.newton = HuberNewton(graph, accuracy)
        self.stopped: State | None = None
        """Where the path ends since the share would be reached only by rows that leave parts of the
        items loose: just below this."""

    def run(self, path: Path, down_to: float) -> Iterator[tuple[float, Array, bool]]:
        """Yield lambda and the scores there, flagged rows entered into `path`, and whether it is the last."""
        graph, newton = self.graph, self.newton
        at = State.of(graph, np.inf, least_squares(graph, newton.accuracy).scores)
        first = float(np.abs(at.misfit).max(initial=0.0))
        if first <= newton.accuracy * graph.largest_margin:  # nothing to explain
            yield down_to, at.scores, True
            return
        if self._share is not None and path.reached(self._share):  # no row may be flagged
            yield first, at.scores, True
            return
        levels = first * 10.0 ** (-np.arange(_DECADES * self._per_decade + 1) / self._per_decade)
        end = [down_to] if down_to > 0 else []
        older = above = at._replace(level=first)
        if first > down_to:  # where still nothing is an outlier
            yield first, above.scores, False
        for level in (*levels[1:][levels[1:] > down_to].tolist(), *end):
            at = State.of(graph, level, newton.scores(level, on_the_line(level, older, above)))
            if self._share is not None and path.stands_for(at.beyond(graph)) >= path.most(self._share):
                reached = reach(self._share, newton, path, above, at)
                note(path, above, reached.within)
                path.more, self.stopped = reached.more, reached.loose
                yield (*reached.end, True)
                return
            note(path, above, at)
            older, above = above, at
            yield at.level, at.scores, at.level == down_to
        if self._share is not None:  # which nothing reaches
            last = next_arrival(newton, at)
            if last[0] == 0:  # nor does anything change any more
                yield (*last, True)

    def loose_parts(self, state: State, side: int) -> NDArray[np.int64]:
        """Part of each item that rows within the threshold hold together; `side` -1: well within."""
        within = np.abs(state.misfit) <= state.level + side * NEAR * self.graph.largest_margin
        return parts(self.graph, within)
