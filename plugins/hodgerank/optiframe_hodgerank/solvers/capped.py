"""Outliers capped three ways: in total, for each annotator and for each pair of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.path.path import number_of
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.thresholding import RowClasses
from optiframe_hodgerank.stopping.stop_rule import SHARE, share_words
from optiframe_hodgerank.trust.ambiguity import EQUAL, TiedAtTheCut, View, exchangeable
from optiframe_hodgerank.trust.three_view import lacks_three_view, three_view

Labels = NDArray[np.int64]


class CappedThresholding(Solver[PairwiseRanking, Ranking, None]):
    """Iterative hard thresholding with caps on the outliers of each annotator and each pair.

    As `hodge.iht` (Eq. 24), descends on sum w (y - X theta - gamma)^2/2, but gamma is not the misfit
    of the K worst comparisons: it is that of the set with the largest sum of w misfit^2 among those
    with at most `total` comparisons in all, `per_worker` of any one annotator and `per_pair` between
    any two items, whichever way round. Where one annotator floods a pair and outvotes the others
    there, these look like the outliers, and uncapped thresholding leaves them all out; `per_pair` keeps
    most of them in. The price: of a flood that can be seen to be wrong only so many are left out.

    Where the total allows only some of comparisons that are equally far off, none of those is an outlier, as
    in `hodge.iht`; nor where a cap does, and it matters which. Scores are the
    least-squares fit to y - gamma. Each step is exact in gamma and in theta, so the
    objective never rises; the end is a local minimum, from least squares. Equal comparisons of
    annotators are kept apart here, so the caps work on the caller's rows. Comparisons
    without a worker count as by different ones.

    A step costs a Laplacian solve, a sort of the rows and, where both caps are given and the worst rows
    break one, a projection onto the set `three-view` (of the plugin tvcs, which two caps need). Memory is
    about 100 bytes a row.
    """

    name = "hodge.capped"
    reference = "Xu et al., Eq. 24; Yang et al., Definition 1"
    solves = PairwiseRanking
    residual_meaning = "largest change of a score in a step, over the largest margin"

    share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=SHARE,
        description="at most this share of all comparisons are outliers, unless total says how many",
    )
    total: NonNegativeInt | None = Field(default=None, description="how many comparisons may be outliers")
    per_worker: NonNegativeInt | None = Field(
        default=None, description="how many of any one annotator's; none: no cap"
    )
    per_pair: NonNegativeInt | None = Field(
        default=None, description="how many between any two items; none: no cap"
    )

    @property
    def _both(self) -> bool:
        return self.per_worker is not None and self.per_pair is not None

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if self.per_worker is not None and problem.comparisons.worker is None:
            return "per_worker caps the outliers of each annotator, but the comparisons name no worker"
        lacks = lacks_three_view("per_worker and per_pair together need") if self._both else None
        return f"{lacks}, or give one of the two caps" if lacks else None

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph, merged = problem.graph, problem.merged
        weight = problem.comparisons.weight
        each = np.ones(problem.rows) if weight is None else weight
        views = [
            View(labels, most)
            for labels, most in zip(_views(problem), (self.per_worker, self.per_pair), strict=True)
            if most is not None
        ]
        total = number_of(self.share, problem.rows) if self.total is None else self.total
        both = three_view(total, *views) if self._both else None
        words = share_words(self, self.share) if self.total is None else f"total = {self.total}"
        by_share = self.total is None and not views
        classes = RowClasses.of(problem).inverse
        doubt = TiedAtTheCut(run, words, total, problem.rows, by_share=by_share)
        nothing = (EQUAL * graph.largest_margin) ** 2 * float(each.max())
        scores = graph.scores(graph.margin)
        while True:
            misfit = graph.margin - graph.differences(scores)
            gain = each * merged.expand_even(misfit * misfit)
            kept = most_gain(gain, total, views, both)
            kept = kept[gain[kept] > nothing]
            either = exchangeable(gain, classes, kept, views, nothing)
            kept = np.setdiff1d(kept, either)
            doubt.say(len(kept), _as_wrong(gain, either))
            part = np.bincount(merged.inverse[kept], each[kept], len(merged)) / merged.weight
            moved = graph.scores(graph.margin - part * misfit)
            change = float(np.abs(moved - scores).max(initial=0.0))
            scores = moved
            yield Iterate((scores, kept), change / (graph.largest_margin or 1.0))

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        scores, kept = iterate.x
        misfit = problem.graph.margin - problem.graph.differences(scores)
        outliers = np.zeros(problem.rows)
        outliers[kept] = problem.merged.expand(misfit)[kept]
        return replace(problem.ranking(scores, strength=np.abs(misfit)), outliers=outliers)


def _as_wrong(gain: Array, rows: Labels) -> int:
    """How many rows have the gain of one of these."""
    near = np.zeros(len(gain), dtype=bool)
    for one in np.unique(gain[rows]).tolist():
        near |= np.abs(gain - one) <= EQUAL * float(gain.max())
    return int(near.sum())


def _views(problem: PairwiseRanking) -> tuple[Labels, Labels]:
    """Labels of the annotator (-1: none) and of the pair of each of the caller's rows."""
    merged, worker = problem.merged, problem.comparisons.worker
    pair = np.unique(merged.left * problem.graph.items + merged.right, return_inverse=True)[1]
    none = np.full(problem.rows, -1, dtype=np.int64)
    return none if worker is None else worker, pair.astype(np.int64)[merged.inverse]


def most_gain(gain: Array, total: int, views: Sequence[View], both: ConstraintSet | None = None) -> Labels:
    """The elements with the largest sum of gains under the caps, exactly; sorted.

    Where the largest break no cap, and with one view, whose groups' best are taken first, a sort suffices;
    of equal elements the earlier are taken, as in `hodge.iht`. Two views need a program, which the set
    solves; among several best answers it gives any.

    Parameters
    ----------
    gain
        Shape (elements,), not negative; elements that gain nothing are never chosen.
    total
        At most so many in all.
    views
        At most two.
    both
        With two views, the set of vectors that keep all three caps (`three_view`).
    """
    order = np.lexsort((np.arange(len(gain)), -gain))
    order = order[gain[order] > 0]
    worst = order[:total]
    if all(_within(view, worst) for view in views):
        return np.sort(worst)
    if both is not None:
        return np.flatnonzero(both.project(np.sqrt(gain)))  # it keeps the largest sum of squares
    (view,) = views
    return np.sort(order[_among(view.labels[order], view.most)][:total])


def _within(view: View, chosen: Labels) -> bool:
    known = view.labels[chosen]
    known = known[known >= 0]
    return not len(known) or int(np.bincount(known).max()) <= view.most


def _among(labels: Labels, most: int) -> NDArray[np.bool_]:
    """Which are among the first `most` with their label, or in no group."""
    order = np.argsort(labels, kind="stable")
    ranked, at = labels[order], np.arange(len(labels))
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = at - np.searchsorted(ranked, ranked)
    return np.asarray((place < most) | (labels < 0))
