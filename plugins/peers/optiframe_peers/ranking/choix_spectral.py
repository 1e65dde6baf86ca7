"""Bradley-Terry by the stationary distributions of Markov chains, by choix."""

from __future__ import annotations

import math

import numpy as np
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, NonNegativeFloat

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_peers.libraries import library, visiting
from optiframe_peers.ranking.pairs import Ranker, not_countable, separate, win_list, win_matrix


class Ilsr(Ranker):
    """Maximum-likelihood scores by choix's iterated Luce spectral ranking.

    A step is choix's `lsr_pairwise_dense` from the scores before: a dense linear system of the order of
    the items. The first step is the estimate called LSR. A tie is half a win of each, and weights are
    taken as they are. Without `alpha`, needs a connected graph where nobody always wins.
    """

    name = "choix.ilsr"
    reference = "Maystre, Grossglauser 2015"
    requires = ("choix",)
    residual_meaning = "mean change of a score in the last step"

    alpha: NonNegativeFloat = Field(default=0.0, description="added to the rate between any two items")

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return super().unsuited(problem) or (None if self.alpha else _advice(separate(problem)))

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        with visiting(run, "choix", identifier="ranking.library-warning"):
            choix = library("choix")
        wins = win_matrix(problem)
        scores: Array | None = None
        while True:
            with visiting(run, "choix", identifier="ranking.library-warning"):
                moved = choix.lsr_pairwise_dense(wins, alpha=self.alpha, initial_params=scores)
            residual = math.nan if scores is None else float(np.abs(moved - scores).mean())
            scores = moved
            yield Iterate(scores, residual=residual)


class RankCentrality(Ranker):
    """Rank centrality by choix: a walk that leaves an item for those that beat it, by the share of wins.

    A tie is a win of each, every other comparison then counting twice. Needs a connected graph where
    nobody always wins, unless `alpha` is above 0.
    """

    name = "choix.rank-centrality"
    reference = "Negahban, Oh, Shah 2012"
    requires = ("choix",)
    one_shot = True
    residual_meaning = "0: a linear system, solved"

    alpha: NonNegativeFloat = Field(
        default=0.0, description="wins added to either side of every pair of items"
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return (
            super().unsuited(problem)
            or not_countable(problem)
            or (None if self.alpha else _advice(separate(problem)))
        )

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        wins, copies = win_list(problem)
        with visiting(run, "choix", identifier="ranking.library-warning"):
            choix = library("choix")
            scores = choix.rank_centrality(len(problem.item_ids), wins, alpha=self.alpha * copies)
        yield Iterate(scores, residual=0.0)


def _advice(reason: str | None) -> str | None:
    return None if reason is None else f"{reason}; give `alpha`, such as 0.01"
