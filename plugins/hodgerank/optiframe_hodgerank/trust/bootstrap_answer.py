"""What a bootstrap gives: scores of a method on comparisons drawn again, and intervals from them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_hodgerank.answer import Ranking

_LOST = 0.5  # share of draws that may be left out; with fewer left, they are not like the data any more
_FEWEST = 20


def fewest(level: float) -> int:
    """How many draws intervals of this coverage need: one beyond each end, and 20 in any case."""
    return max(_FEWEST, math.ceil(2 / (1 - level) - 1e-9))


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Scores of a method on comparisons drawn again.

    Parameters
    ----------
    answer
        The method's answer to all comparisons.
    drawn
        The scores of each draw, shape (items,) each.
    level
        Coverage the intervals are meant to have.
    apart
        Draws left out because their comparisons did not hold the items together.
    unanswered
        Draws left out because the method refused them or had no finite scores for them.
    refusal
        Why the method refused the first such draw, in words; empty: none was refused.
    detail
        What else the method said about all comparisons, such as its path.
    """

    answer: Ranking
    drawn: tuple[Array, ...]
    level: float
    apart: int = 0
    detail: Any = None
    unanswered: int = 0
    refusal: str = ""

    def __repr__(self) -> str:
        return f"<bootstrap of {len(self.answer.items)} scores, {len(self.drawn)} draws>"

    @cached_property
    def scores(self) -> Array:
        """Shape (draws, items)."""
        return np.array(self.drawn).reshape(len(self.drawn), len(self.answer.items))

    @property
    def made(self) -> int:
        """How many draws were made, those left out with them."""
        return len(self.drawn) + self.left_out

    @property
    def left_out(self) -> int:
        """How many draws were left out."""
        return self.apart + self.unanswered

    @property
    def enough(self) -> bool:
        """Whether the draws are enough, and enough like the data, for intervals."""
        return self.made >= fewest(self.level) and not self.too_few_comparisons

    @property
    def too_few_comparisons(self) -> bool:
        """Whether more than half of the draws were left out."""
        return self.left_out > _LOST * self.made

    @cached_property
    def ranking(self) -> Ranking:
        """The answer to all comparisons, with intervals where the draws are `enough`, and none else."""
        if not self.enough:
            return replace(self.answer, low=None, high=None)
        low, high = np.quantile(self.scores, [(1 - self.level) / 2, (1 + self.level) / 2], axis=0)
        return replace(self.answer, low=low, high=high, level=self.level)

    @property
    def places(self) -> NDArray[np.int64]:
        """Place of each item in each draw, within its component, 1 the best, shape (draws, items)."""
        place = np.empty(self.scores.shape, dtype=np.int64)
        for label in range(int(self.answer.component.max()) + 1):
            among = np.flatnonzero(self.answer.component == label)
            scores = self.scores[:, among]
            rising = np.sort(scores, axis=1)
            for draw in range(len(scores)):
                place[draw, among] = 1 + len(among) - np.searchsorted(rising[draw], scores[draw], "right")
        return place

    @cached_property
    def rank_intervals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ends of the intervals of the ranks, which are ranks that occur, shape (items,) each."""
        tail = (1 - self.level) / 2
        low, high = np.quantile(self.places, [tail, 1 - tail], axis=0, method="inverted_cdf")
        return low.astype(np.int64), high.astype(np.int64)

    @property
    def errors(self) -> Array:
        """Standard errors of the scores: the deviation of the draws, shape (items,)."""
        return np.asarray(self.scores.std(axis=0, ddof=1))

    def tables(self) -> dict[str, Columns]:
        """`rank_intervals` (item, rank, rank_low, rank_high), and the tables of the method's own detail."""
        own = getattr(self.detail, "tables", None)
        more: dict[str, Columns] = own() if callable(own) else {}
        if not self.enough:
            return more
        (low, high), best = self.rank_intervals, self.answer.order
        table = {"rank": self.answer.rank[best], "rank_low": low[best], "rank_high": high[best]}
        return {"rank_intervals": {"item": self.answer.items[best], **table}} | more

    def findings(self, draws: int) -> Iterator[Finding]:
        """What to know about the intervals, when so many draws were wanted."""
        made = self.made
        if not self.enough:
            yield Finding(
                "warning",
                f"no intervals: {self.why_none(draws)}",
                identifier="ranking.bootstrap-too-few-comparisons"
                if self.too_few_comparisons
                else "ranking.bootstrap-too-few-draws",
            )
        else:
            if made < draws:
                yield Finding(
                    "warning",
                    f"the run ended after {made} of {draws} draws: the intervals use those",
                    identifier="ranking.bootstrap-ended-early",
                )
            if self.apart:
                yield Finding(
                    "note",
                    f"the intervals are slightly too narrow: in {self.apart} of {made} draws the comparisons "
                    "fell apart into more groups of items than in the data, and these draws were left out",
                    identifier="ranking.bootstrap-draws-fell-apart",
                )
            if self.unanswered:
                yield Finding(
                    "warning",
                    f"{self._without_answer} and were left out: intervals are too narrow{self._why}",
                    identifier="ranking.bootstrap-draws-without-answer",
                )

    @property
    def _without_answer(self) -> str:
        return f"{self.unanswered} of {self.made} draws have no finite answer"

    @property
    def _why(self) -> str:
        return f" (the method about the first of them: {self.refusal})" if self.refusal else ""

    def why_none(self, draws: int) -> str:
        """Why there are no intervals where the draws are not `enough`, when so many were wanted."""
        if not self.too_few_comparisons:
            return (
                f"the run ended after {self.made} of {draws} draws, and {100 * self.level:g}% intervals need "
                f"{fewest(self.level)}"
            )
        reasons = []
        if self.apart:
            reasons.append(
                f"{self.apart} of {self.made} draws fall apart into groups of items without a comparison "
                "between them"
            )
        if self.unanswered:
            reasons.append(self._without_answer + self._why)
        return f"{'; '.join(reasons)}; the comparisons are too few for a bootstrap"


def at_level(answer: Ranking, detail: object, level: float) -> Ranking:
    """The answer with intervals of this coverage, by the draws of a bootstrap or the normal distribution.

    Raises
    ------
    InvalidInput
        When the level is not between 0 and 1, or beyond what the draws allow.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, got {level}")
    if answer.low is None or answer.high is None or level == answer.level:
        return answer
    if isinstance(detail, Bootstrap):
        drawn = replace(detail, level=level)
        if not drawn.enough:
            raise InvalidInput(f"no intervals: {drawn.why_none(drawn.made)}")
        return drawn.ranking
    by = float(ndtri((1 + level) / 2) / ndtri((1 + answer.level) / 2))
    low, high = (answer.scores + by * (end - answer.scores) for end in (answer.low, answer.high))
    return replace(answer, low=low, high=high, level=level)
