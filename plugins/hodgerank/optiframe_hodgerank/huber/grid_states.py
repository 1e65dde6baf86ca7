"""A point of the path of Huber-LASSO on a grid, and what has changed since the one before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.path import NEAR, Path


class State(NamedTuple):
    """A lambda, the scores there and the misfit of each row."""

    level: float
    scores: Array
    misfit: Array

    @classmethod
    def of(cls, graph: ComparisonGraph, level: float, scores: Array) -> State:
        """The point with these scores."""
        return cls(level, scores, graph.margin - graph.differences(scores))

    def beyond(self, graph: ComparisonGraph) -> NDArray[np.bool_]:
        """Which rows are outliers; one just at the threshold is not."""
        return np.abs(self.misfit) > self.level + NEAR * graph.largest_margin


def on_the_line(level: float, one: State, other: State) -> Array:
    """About the scores at this lambda: the path is straight but where flags change."""
    if one.level == other.level:
        return other.scores
    share = (level - other.level) / (one.level - other.level)
    return np.asarray(other.scores + share * (one.scores - other.scores))


def crossing(above: State, below: State, rows: NDArray[np.int64]) -> Array:
    """Lambda at which rows believed at `above` and flagged `below` entered, read off a straight line."""
    until = np.maximum(above.level - np.abs(above.misfit[rows]), 0.0)
    past = np.abs(below.misfit[rows]) - below.level
    return np.asarray(above.level - (above.level - below.level) * until / (until + past))


def note(path: Path, above: State, below: State) -> None:
    """Enter rows that are beyond lambda below, and believe those that are not any more."""
    out = below.beyond(path.graph)
    changed = np.flatnonzero(out != path.flagged)
    fresh = changed[out[changed]]
    path.unflag(changed[~out[changed]])
    at = crossing(above, below, fresh)
    order = np.argsort(-at, kind="stable")
    path.flag_all(fresh[order], below.misfit[fresh[order]], at[order], ahead=True)
