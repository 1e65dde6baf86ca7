"""Outliers capped three ways: in total, for each annotator and for each pair of items."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt
from scipy.optimize import linprog

from optiframe.solvers import Iterate, Iterates, Run, Solver
from optiframe.values import Array
from optiframe_hodgerank.pairwise_ranking import PairwiseRanking
from optiframe_hodgerank.ranking import Ranking

_SHARE = 0.05  # the share of outliers in the paper's experiments

Labels = NDArray[np.int64]


class CappedThresholding(Solver[PairwiseRanking, Ranking, None]):
    """Iterative hard thresholding with caps on the outliers of each annotator and each pair.

    As `hodge.iht` (Eq. 24), descends on sum w (y - X theta - gamma)^2/2, but gamma is not the misfit
    of the K worst comparisons: it is that of the set with the largest sum of w misfit^2 among those
    with at most `total` comparisons in all, `per_worker` of any one annotator and `per_pair` between
    any two items, whichever way round. Where one annotator floods a pair and outvotes the others
    there, these look like the outliers, and uncapped thresholding leaves them all out; `per_pair` keeps
    most of them in. The price: of a flood that can be seen to be wrong only so many are left out.

    Scores are the least-squares fit to y - gamma. Each step is exact in gamma and in theta, so the
    objective never rises; the end is a local minimum, from least squares. Equal comparisons of
    different annotators are told apart here, so the caps work on the caller's rows. Comparisons
    without a worker count as by different ones.

    A step costs a Laplacian solve, a sort of the rows and, where the worst ones break a cap, a
    linear program over them (`three_view`): memory is about 100 bytes a row.
    """

    name = "hodge.capped"
    reference = "Xu et al., Eq. 24; Yang et al., Definition 1"
    solves = PairwiseRanking
    residual = "largest change of a score in a step"

    share: Annotated[float, Field(gt=0, lt=1)] = Field(
        _SHARE, description="share of all comparisons that may be outliers, unless total says how many"
    )
    total: NonNegativeInt | None = Field(None, description="how many comparisons may be outliers")
    per_worker: NonNegativeInt | None = Field(
        None, description="how many of any one annotator's; none: no cap"
    )
    per_pair: NonNegativeInt | None = Field(None, description="how many between any two items; none: no cap")

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if self.per_worker is not None and problem.comparisons.worker is None:
            return "per_worker caps the outliers of each annotator, but the comparisons name no worker"
        return None

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph, merged = problem.graph, problem.merged
        weight = problem.comparisons.weight
        each = np.ones(problem.rows) if weight is None else weight
        worker, pair = _views(problem)
        # A share such as 0.3 of ten rows is three of them, whatever 0.3 * 10 rounds to.
        total = int(np.floor(self.share * problem.rows + 1e-9)) if self.total is None else self.total
        scores = graph.scores(graph.margin)
        while True:
            misfit = graph.margin - graph.differences(scores)
            gain = each * merged.expand_even(misfit * misfit)
            kept = three_view(gain, total, (worker, self.per_worker), (pair, self.per_pair))
            part = np.bincount(merged.inverse[kept], each[kept], len(merged)) / merged.weight
            moved = graph.scores(graph.margin - part * misfit)
            change = float(np.abs(moved - scores).max(initial=0.0))
            scores = moved
            yield Iterate((scores, kept), change)

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        scores, kept = iterate.x
        misfit = problem.graph.margin - problem.graph.differences(scores)
        outliers = np.zeros(problem.rows)
        outliers[kept] = problem.merged.expand(misfit)[kept]
        return replace(problem.ranking(scores, strength=np.abs(misfit)), outliers=outliers)


def _views(problem: PairwiseRanking) -> tuple[Labels, Labels]:
    """Labels of the annotator (-1: none) and of the pair of each of the caller's rows."""
    merged, worker = problem.merged, problem.comparisons.worker
    pair = np.unique(merged.left * problem.graph.items + merged.right, return_inverse=True)[1]
    none = np.full(problem.rows, -1, dtype=np.int64)
    return none if worker is None else worker, pair.astype(np.int64)[merged.inverse]


def three_view(gain: Array, total: int, *views: tuple[Labels, int | None]) -> Labels:
    """The set of elements with the largest sum of gains under three caps, exactly; sorted.

    Parameters
    ----------
    gain
        Shape (elements,), not negative; elements that gain nothing are never chosen.
    total
        At most so many in all.
    *views
        At most two ways to group the elements: the label of the group of each, shape (elements,),
        -1 where in none, and how many of any group there may be; None: any number.

    Notes
    -----
    Taking the `total` largest gains (of equal ones the earlier) is right where it breaks no cap.
    Otherwise: the caps of one view are disjoint and within the total, those of the other are
    disjoint, so the matrix of the linear program max gain' z, 0 <= z <= 1, is totally unimodular
    (two laminar families) and its vertices are sets; HiGHS' simplex gives one. Elements beyond the
    cap of their group and cell that are no better than those before them are left out at once.
    """
    order = np.lexsort((np.arange(len(gain)), -gain))
    order = order[gain[order] > 0]
    worst = order[:total]
    capped = [(labels, most) for labels, most in views if most is not None]
    if all(_within(labels[worst], most) for labels, most in capped):
        return np.sort(worst)
    if len(capped) == 1:  # the best of each group, then the best of these
        labels, most = capped[0]
        return np.sort(order[_among(labels[order], most)][:total])
    # Of a cell, one group of either view, only the best can be in: the others could be swapped for them.
    (one, cap), (other, limit) = capped
    cell = np.where((one < 0) | (other < 0), -1, one * (int(other.max()) + 1) + other)
    order = order[_among(cell[order], min(cap, limit))]
    if not len(order):
        return order
    caps = [_members(labels[order], most) for labels, most in capped]
    rows = sp.vstack([sp.csr_array(np.ones((1, len(order)))), *(matrix for matrix, _ in caps)])
    bounds = np.concatenate([[total], *(most for _, most in caps)])
    # Gains relative to the largest: HiGHS' tolerances are absolute, 1e-7.
    found = linprog(-gain[order] / gain[order[0]], A_ub=rows, b_ub=bounds, bounds=(0, 1), method="highs-ds")
    return np.sort(order[found.x > 0.5])


def _within(labels: Labels, most: int) -> bool:
    known = labels[labels >= 0]
    return not len(known) or int(np.bincount(known).max()) <= most


def _among(labels: Labels, most: int) -> NDArray[np.bool_]:
    """Which are among the first `most` with their label, or in no group."""
    order = np.argsort(labels, kind="stable")
    ranked, at = labels[order], np.arange(len(labels))
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = at - np.searchsorted(ranked, ranked)
    return np.asarray((place < most) | (labels < 0))


def _members(labels: Labels, most: int) -> tuple[sp.csr_array, Array]:
    """Which elements are in each group that can exceed its cap, and the caps."""
    inside = np.flatnonzero(labels >= 0)
    groups, of = np.unique(labels[inside], return_inverse=True)
    crowded = np.bincount(of, minlength=len(groups)) > most
    row = np.cumsum(crowded) - 1
    inside, of = inside[crowded[of]], of[crowded[of]]
    shape = (int(crowded.sum()), len(labels))
    return sp.csr_array((np.ones(len(inside)), (row[of], inside)), shape=shape), np.full(
        shape[0], float(most)
    )
