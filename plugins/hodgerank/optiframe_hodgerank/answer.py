"""The answer to a pairwise-ranking problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.errors import InvalidInput, nearest
from optiframe.notebook import InNotebook
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids

NORMAL_90 = 1.6448536269514722
"""95th percentile of the normal distribution: standard errors on either side of a 90% interval."""
_SAME = 1e-9
"""Two scores within this much, relative to the largest, share a rank: above the rounding of a
Laplacian solve (1e-12), far below any difference that means something."""

Scale: TypeAlias = Literal["log-odds", "elo", "win-probability"]

ELO_MEAN, ELO_UNIT = 1000.0, 400.0
"""Rating of the mean score, and the points by which the odds of winning are ten times as high."""


@dataclass(frozen=True, eq=False)
class Ranking(InNotebook):
    """Scores of items, and which comparisons were taken for wrong.

    Parameters
    ----------
    items
        Item ids, shape (items,).
    scores
        Shape (items,); the highest is the best. They sum to zero within each component of the
        comparison graph; scores of different components cannot be compared.
    component
        Label of the component of each item, shape (items,).
    outliers
        gamma, the part of each comparison's margin taken to be wrong, in the caller's rows and
        orientation, shape (rows,); 0 where it is believed. None: the method names none.
    entry
        Place of each comparison in the order in which they were taken for outliers, 0 first,
        shape (rows,); -1 where it never was. Comparisons that entered together share a place.
    strength
        How much each comparison looks like an outlier, shape (rows,); higher is more. None: no opinion.
    scale
        "margin": a difference of scores predicts y; "log-odds": it predicts who wins; "order": only the
        order means something.
    low, high
        Ends of intervals of the scores, shape (items,); None: the method has none.
    backend
        The data-frame library `frame` answers in.
    why
        What settled how many comparisons are taken for outliers, in words; empty: not known.
    level
        Coverage of the intervals.
    verdicts
        Of a method that weighs workers: what it found of the votes of each, in a few words, empty for who is
        reliable, shape (workers,). None: it counts all alike.
    """

    items: Ids
    scores: Array
    component: NDArray[np.int64]
    outliers: Array | None = None
    entry: NDArray[np.int64] | None = None
    strength: Array | None = None
    scale: Literal["margin", "log-odds", "order"] = "margin"
    low: Array | None = None
    high: Array | None = None
    backend: str | None = None
    why: str = ""
    level: float = 0.9
    verdicts: NDArray[np.object_] | None = None

    def __repr__(self) -> str:
        flagged = "" if self.outliers is None else f", {len(self.flagged)} comparisons taken for outliers"
        return f"<ranking of {len(self.items)} items{flagged}>"

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Codes of the items, best first within each component, components one after the other.

        The place among equal scores is that of the codes.
        """
        return np.lexsort((np.arange(len(self.scores)), -self.scores, self.component))

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Rank within the component, from 1; equal scores share the best rank, shape (items,)."""
        score, component = self.scores[self.order], self.component[self.order]
        near = _SAME * float(np.abs(self.scores).max(initial=0.0))
        at = np.arange(len(score))
        fresh = np.ones(len(score), dtype=bool)
        fresh[1:] = (component[1:] != component[:-1]) | (score[:-1] - score[1:] > near)
        first = np.ones(len(score), dtype=bool)
        first[1:] = component[1:] != component[:-1]
        start = np.maximum.accumulate(np.where(first, at, 0))
        rank = np.empty(len(score), dtype=np.int64)
        rank[self.order] = np.maximum.accumulate(np.where(fresh, at, 0)) - start + 1
        return rank

    @cached_property
    def flagged(self) -> NDArray[np.int64]:
        """Rows taken for outliers, in order of entry, then of strength, then of row."""
        if self.outliers is None:
            return np.empty(0, dtype=np.int64)
        rows = np.flatnonzero(self.outliers)
        strength = np.abs(self.outliers[rows]) if self.strength is None else self.strength[rows]
        entry = np.zeros(len(rows)) if self.entry is None else self.entry[rows].astype(np.float64)
        entry[entry < 0] = np.inf  # flagged without an entry: after those that have one
        return np.asarray(rows[np.lexsort((rows, -strength, entry))])

    def columns(self) -> Columns:
        """Columns `item, rank, score`, and `low, high`, `component` where there are such; best first."""
        best = self.order
        table: dict[str, Any] = {
            "item": self.items[best],
            "rank": self.rank[best],
            "score": self.scores[best],
        }
        if self.low is not None and self.high is not None:
            table |= {"low": self.low[best], "high": self.high[best]}
        if self.component.any():
            table["component"] = self.component[best]
        return table

    def frame(self) -> Any:
        """`columns()` as the kind of data frame the comparisons came in; a dict of arrays for files."""
        return to_frame(self.columns(), self.backend)

    def check_numbers(self, rows: int) -> None:
        """Raise `InvalidInput` where there is not a finite score for each item, or a number for each row."""
        items = len(self.items)
        for name, values in (("scores", self.scores), ("low", self.low), ("high", self.high)):
            if values is not None:
                as_numbers(name, values, items, "item")
        scores = np.asarray(self.scores, dtype=np.float64)
        wrong = np.flatnonzero(~np.isfinite(scores))
        if len(wrong):
            raise InvalidInput(
                f"scores must be {items} finite numbers, one for each item, got {scores[wrong[0]]} for item "
                f"{self.items[wrong[0]]}{f' and {len(wrong) - 1} more' if len(wrong) > 1 else ''}"
            )
        if self.component.shape != (items,):
            raise InvalidInput(f"component must be {items} labels, one for each item")
        for name in ("outliers", "entry", "strength"):
            if getattr(self, name) is not None:
                as_numbers(name, getattr(self, name), rows, "comparison")


def check(solution: Any, problem: str, items: Ids, rows: int) -> None:
    """Raise `InvalidInput` unless this is an answer for these items and rows, with finite scores."""
    if not isinstance(solution, Ranking):
        raise InvalidInput(
            f"an answer to {problem} is a Ranking, such as the solution of an earlier run, not a "
            f"{type(solution).__name__}"
        )
    if solution.items is not items and not np.array_equal(solution.items, items):
        raise InvalidInput("this answer is for other items than the problem's")
    solution.check_numbers(rows)


def as_numbers(name: str, values: Any, count: int, each: str, otherwise: str = "") -> NDArray[Any]:
    """The values as an array of real numbers, shape (count,), finite or not; `InvalidInput` for others."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.shape == (count,) and array.dtype.kind in "fiub":
        return array
    got = f"{type(values).__name__}" if array.dtype.kind not in "fiub" else f"shape {array.shape}"
    if array.ndim == 1 and array.dtype.kind in "fiub":
        got = f"{len(array)}"
    raise InvalidInput(f"{name} must be {count} numbers, one for each {each}, got {got}{otherwise}")


def on_scale(scores: Array, own: str, scale: Scale | None) -> Array:
    """Scores of an answer on the scale asked for; see `optiframe_hodgerank.leaderboard`.

    Raises
    ------
    InvalidInput
        For an unknown scale, and where scores are not log-odds.
    """
    scales = ("log-odds", "elo", "win-probability")
    if scale is None:
        return scores
    if scale not in scales:
        raise InvalidInput(
            f"unknown scale {scale!r}{nearest(str(scale), scales)}; there are {', '.join(scales)}"
        )
    if own != "log-odds":
        are = "in the units of the margins" if own == "margin" else "no more than an order"
        raise InvalidInput(
            f"scale {scale!r} is for scores in log-odds, and these are {are}; solve by ranking.crowd-bt or "
            "hodge.bradley-terry, which need votes, or leave scale out"
        )
    if scale == "elo":
        return np.asarray(ELO_MEAN + ELO_UNIT / np.log(10.0) * scores)
    return np.asarray(expit(scores)) if scale == "win-probability" else scores
