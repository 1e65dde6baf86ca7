"""What every library's Lasso shares here: comparisons with an outlier variable each."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated

import numpy as np
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.path import number_of
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, PositiveFloat

from optiframe.errors import distribution_of
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_peers.libraries import absent, visiting
from optiframe_peers.regression.incidence import incidence, pull

_SHARE = 0.05  # as `hodge.hlasso`, where neither a share nor a lambda is given
_NOTHING = 1e-12  # misfits below this share of the largest margin are rounding


class OutlierLasso(Solver[PairwiseRanking, Ranking, None]):
    """Huber-LASSO by a library's Lasso, on a grid of lambda from the top down.

    The problem of `hodge.hlasso` (Xu et al., Eq. 4), of which a Lasso is left with the outliers
    gamma as variables: its answer at a lambda is the same, and objectives compare where the problem
    has an `outlier_price`. Rows are merged and weighted first, as for our own; with weights w the
    variables are w gamma, so that the penalty is lambda times the sum of their sizes.

    The answer is that at `lambda_`, else at the problem's `outlier_price`; with `share` it is that at the
    last lambda of the grid before more than so many comparisons are outliers (`hodge.hlasso` goes on to the
    exact one). The strength of a comparison is the lambda of the grid at which it entered.

    A subclass gives `gammas`.
    """

    solves = PairwiseRanking
    one_shot = True
    residual_meaning = "largest entry of the gradient of Huber's loss, over lambda and the largest degree"

    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="at most this share of the comparisons are outliers; none: 0.05, or a lambda",
    )
    lambda_: PositiveFloat | None = Field(
        default=None, description="take this lambda; none: the problem's price"
    )
    points: Annotated[int, Field(ge=1)] = Field(default=100, description="values of lambda, in equal ratios")
    shortest: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=1e-3, description="with a share: the last lambda over the one above which there is no outlier"
    )
    tolerance: PositiveFloat = Field(default=1e-10, description="the library's own tolerance")

    @abstractmethod
    def gammas(self, graph: ComparisonGraph, levels: Array) -> Array:
        """w gamma of the merged rows at each lambda, which fall; shape (rows, levels)."""

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return absent(self)

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph = problem.graph
        top = float(np.abs(graph.cycles(graph.margin)).max(initial=0.0))  # no outlier above it
        wanted = self.lambda_ or (None if self.share else problem.outlier_price)
        if top <= (wanted or 0.0) or top <= _NOTHING * float(np.abs(graph.margin).max(initial=0.0)):
            levels = np.array([wanted or top])  # least squares, without an outlier
            found = np.zeros((graph.rows, 1))
        else:
            levels = np.geomspace(top, wanted or self.shortest * top, self.points + 1)
            with visiting(run, distribution_of(self.requires[0]), identifier="ranking.library-warning"):
                found = self.gammas(graph, levels[1:]) / graph.weight[:, np.newaxis]
            found = np.hstack([np.zeros((graph.rows, 1)), found])  # at the first there is no outlier
        at = len(levels) - 1 if wanted else self._last(problem, found, run)
        ranking, residual = self._answer(problem, levels, found, at)
        yield Iterate(ranking, residual)
        return Status.FINISHED, f"lambda = {number(levels[at], 6)}"

    def _last(self, problem: PairwiseRanking, found: Array, run: Run) -> int:
        share = self.share or _SHARE
        most = number_of(share, problem.rows)
        flagged = problem.merged.count @ (found != 0)
        over = np.flatnonzero(flagged > most)
        if len(over):
            return int(over[0]) - 1
        if flagged[-1] < most:
            run.warn(
                f"the grid of lambda ended before share = {share:g} was reached: {flagged[-1]} of at most "
                f"{most} comparisons are outliers; make `shortest` smaller",
                identifier="ranking.share-not-reached",
            )
        return int(found.shape[1]) - 1

    def _answer(
        self, problem: PairwiseRanking, levels: Array, found: Array, at: int
    ) -> tuple[Ranking, float]:
        graph, level, outliers = problem.graph, float(levels[at]), found[:, at]
        scores = graph.scores(graph.margin - outliers)
        misfit = graph.margin - graph.differences(scores)
        ever = (found[:, : at + 1] != 0).any(axis=1)
        entry = np.where(ever, (found[:, : at + 1] != 0).argmax(axis=1), -1)
        ranking = problem.ranking(
            scores,
            outliers=outliers,
            entry=entry.astype(np.int64),
            strength=np.where(ever, levels[entry], np.minimum(np.abs(misfit), level)),
        )
        return ranking, pull(graph, scores, level) / max(level, 1e-300)


def on_cycles(graph: ComparisonGraph) -> tuple[Array, Array]:
    """The Lasso that is left when the scores are projected out (Eq. 7): its matrix and target.

    P W^(-1/2) and P W^(1/2) y, where P projects onto what scores cannot explain; rows^2 numbers.
    """
    root = np.sqrt(graph.weight)
    scaled = incidence(graph, root).toarray()
    onto = np.asfortranarray(np.eye(graph.rows) - scaled @ graph.solve(scaled.T))
    onto /= root
    return onto, root * graph.cycles(graph.margin)


def too_many(graph: ComparisonGraph) -> str | None:
    """Why `on_cycles` is not for this graph."""
    limit = 10_000  # merged rows: 0.8 GB, and the libraries may copy it
    if graph.rows <= limit:
        return None
    return (
        f"the matrix on the cycle space is dense, and {graph.rows} different comparisons are more than "
        f"{limit}; take hodge.hlasso or skglm.lasso"
    )
