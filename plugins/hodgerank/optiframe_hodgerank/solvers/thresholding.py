"""A given number of outliers: iterative hard thresholding and least trimmed squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.path import number_of
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.stopping.stop_rule import SHARE, share_words
from optiframe_hodgerank.trust.ambiguity import EQUAL, TiedAtTheCut, tied_at_the_cut

Share = Annotated[float, Field(gt=0, lt=1)]


class _FixedNumber(Solver[PairwiseRanking, Ranking, None]):
    """What both have in common: at most K comparisons, those with the largest w misfit^2, are outliers.

    K counts the caller's rows, whatever they weigh. Comparisons with the same w misfit^2, such as equal
    votes, are outliers all or none, so that neither the order of rows nor the names of items decide; a
    warning says where that leaves fewer than K.
    """

    solves = PairwiseRanking
    residual_meaning = "largest change of a score in a step, over the largest margin"

    share: Share = Field(default=SHARE, description="at most this share of the comparisons are outliers")

    def _most(self, problem: PairwiseRanking) -> int:
        """K, the number of the caller's rows that may be outliers."""
        return number_of(self.share, problem.rows)

    def _doubt(self, problem: PairwiseRanking, run: Run) -> TiedAtTheCut:
        return TiedAtTheCut(run, share_words(self, self.share), self._most(problem), problem.rows)

    def _worst(
        self, problem: PairwiseRanking, classes: RowClasses, misfit: Array, doubt: TiedAtTheCut
    ) -> NDArray[np.int64]:
        """How many of each class are outliers."""
        size = classes.size(misfit)
        taken = largest(size, classes.count, self._most(problem))
        nothing = EQUAL * problem.graph.largest_margin * float(np.sqrt(classes.weight.max()))
        tied = tied_at_the_cut(size, classes.count, taken, nothing)
        taken = np.where(tied, 0, taken)
        doubt.say(int(taken.sum()), int(classes.count[tied].sum()))
        return taken

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        scores, classes, taken = iterate.x
        misfit = problem.graph.margin - problem.graph.differences(scores)
        flagged = taken[classes.inverse] > 0
        return replace(
            problem.ranking(scores, strength=np.abs(misfit)),
            outliers=np.where(flagged, problem.merged.expand(misfit), 0.0),
        )


class IterativeHardThresholding(_FixedNumber):
    """Alternate: least squares without the outliers' part, then the K largest misfits are outliers.

    Descends on sum w (y - X theta - gamma)^2/2 with at most K entries of gamma not zero (Eq. 24): scores
    are the least-squares fit to y - gamma, gamma is the misfit of the K comparisons with the largest
    w misfit^2. Finds a local minimum, from least squares. A step costs a Laplacian solve, factored
    once, and a sort of the distinct rows.
    """

    name = "hodge.iht"
    reference = "Xu et al., Eq. 24"

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph = problem.graph
        classes, scores, doubt = RowClasses.of(problem), graph.scores(graph.margin), self._doubt(problem, run)
        while True:
            misfit = graph.margin - graph.differences(scores)
            taken = self._worst(problem, classes, misfit, doubt)
            moved = graph.scores(graph.margin - (1 - classes.kept(taken)) * misfit)
            change = float(np.abs(moved - scores).max(initial=0.0))
            scores = moved
            yield Iterate((scores, classes, taken), change / (graph.largest_margin or 1.0))


class IterativeLeastTrimmedSquares(_FixedNumber):
    """Alternate: least squares over the comparisons kept, then those with the K largest misfits are not.

    Descends on the sum of w misfit^2 over all but K comparisons (Eq. 25) and stops at a local minimum
    after a few steps, from least squares. A step costs a Laplacian factorization of the comparisons
    kept. Where these no longer hold the items together, scores sum to zero in each part, and a
    warning says so.
    """

    name = "hodge.ilts"
    reference = "Xu et al., Eq. 25"

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph, classes = problem.graph, RowClasses.of(problem)
        scores, told, doubt = graph.scores(graph.margin), False, self._doubt(problem, run)
        while True:
            misfit = graph.margin - graph.differences(scores)
            taken = self._worst(problem, classes, misfit, doubt)
            kept = without(graph, classes.kept(taken))
            moved = kept.scores(kept.margin)
            change = float(np.abs(moved - scores).max(initial=0.0))
            scores = moved
            if not told and kept.components.max() > graph.components.max():
                told = True
                run.warn(warn_of_parts(kept), identifier="ranking.disconnected-without-outliers")
            yield Iterate((scores, classes, taken), change / (graph.largest_margin or 1.0))


@dataclass(frozen=True, eq=False)
class RowClasses:
    """The merged rows, divided by weight: the caller's rows of one class have the same margin and weight.

    Parameters
    ----------
    merged
        The merged row of each class, shape (classes,), rising.
    weight
        What one of the caller's rows in a class weighs, shape (classes,).
    count
        How many of the caller's rows are in a class, shape (classes,).
    inverse
        The class of each of the caller's rows, shape (rows,).
    total
        Weight of each merged row, shape (merged,).
    """

    merged: NDArray[np.int64]
    weight: Array
    count: NDArray[np.int64]
    inverse: NDArray[np.int64]
    total: Array

    @classmethod
    def of(cls, problem: PairwiseRanking) -> RowClasses:
        merged, weight = problem.merged, problem.comparisons.weight
        if weight is None:
            return cls(
                np.arange(len(merged)), np.ones(len(merged)), merged.count, merged.inverse, merged.weight
            )
        value, code = np.unique(weight, return_inverse=True)
        key, inverse, count = np.unique(
            merged.inverse * len(value) + code, return_inverse=True, return_counts=True
        )
        row, at = np.divmod(key, len(value))
        return cls(row, value[at], count, inverse.astype(np.int64), merged.weight)

    def size(self, misfit: Array) -> Array:
        """The root of w misfit^2 of each class, from the misfit of the merged rows."""
        return np.asarray(np.sqrt(self.weight) * np.abs(misfit[self.merged]))

    def kept(self, taken: NDArray[np.int64]) -> Array:
        """The part of each merged row's weight that is left without so many rows of each class."""
        left = np.bincount(self.merged, (self.count - taken) * self.weight, len(self.total))
        return np.asarray(left / self.total)


def largest(size: Array, count: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """How many of each class's comparisons are among the `most` with the largest `size`."""
    order = np.argsort(-size, kind="stable")
    before = np.cumsum(count[order]) - count[order]
    taken = np.zeros(len(size), dtype=np.int64)
    taken[order] = np.clip(most - before, 0, count[order])
    return taken


def without(graph: ComparisonGraph, kept: Array) -> ComparisonGraph:
    """The graph in which only the part `kept`, within [0, 1], of each row's weight is left."""
    rows = np.flatnonzero(kept > 0)
    return ComparisonGraph(
        graph.items, graph.left[rows], graph.right[rows], graph.margin[rows], (graph.weight * kept)[rows]
    )


def warn_of_parts(kept: ComparisonGraph) -> str:
    """That the comparisons kept leave the items in parts, in words."""
    return (
        f"the comparisons that are not outliers leave the items in {kept.components.max() + 1} parts; "
        "scores of different parts cannot be compared"
    )
