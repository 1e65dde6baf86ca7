"""evalica's counts and eigenvectors, whose scores have an order and no scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, PositiveInt

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Run
from optiframe_peers.libraries import at_most
from optiframe_peers.ranking.evalica_kit import Arguments, Evalica
from optiframe_peers.ranking.pairs import win_matrix


class _Ordering(Evalica):
    def log_odds(self, result: Any, scores: Array) -> Array:
        return scores

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        """The answer with evalica's scores, moved to sum to zero within each component."""
        return problem.ranking(problem.graph.centred(iterate.x), scale="order")


class Counting(_Ordering):
    """Number of wins by evalica, a tie counting half. Who is compared more often wins more often."""

    name = "evalica.counting"

    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        return evalica.counting(**compared), 0


class AverageWinRate(_Ordering):
    """Mean over opponents of the share of wins against each, by evalica; a tie counts half."""

    name = "evalica.average-win-rate"

    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        return evalica.average_win_rate(**compared), 0


class Eigen(_Ordering):
    """Leading eigenvector of the matrix of wins, by evalica; a tie is half a win of each.

    evalica 0.4 takes the eigenvector from the wrong side: the score of an item grows with those who
    beat it, so that the worst come first. `reverse` exchanges winners and losers on the way in. Its
    compiled code makes all `rounds`, and says nothing where they lead nowhere: where no wins go round
    in a circle there is no leading eigenvector, and where circles are all of even length the power
    iteration swings. The residual tells.
    """

    name = "evalica.eigen"
    reference = "Bonacich 1987"
    residual_meaning = "how far a product with the matrix turns the vector: the sine of the angle"

    reverse: bool = Field(
        default=False, description="exchange winners and losers first, so that the best lead"
    )
    rounds: PositiveInt = Field(default=100, description="products with the matrix")

    def compared(self, evalica: Any, problem: PairwiseRanking) -> Arguments:
        given = super().compared(evalica, problem)
        return given | {"xs": given["ys"], "ys": given["xs"]} if self.reverse else given

    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        limit = at_most(self.rounds, run)
        return evalica.eigen(**compared, limit=limit), limit

    def misfit(self, problem: PairwiseRanking, scores: Array) -> float:
        wins = win_matrix(problem)
        turned = (wins if self.reverse else wins.T) @ scores
        lengths = float(np.linalg.norm(turned)), float(np.linalg.norm(scores))
        if min(lengths) == 0:
            return 1.0
        one, other = turned / lengths[0], scores / lengths[1]
        return float(np.linalg.norm(one - (one @ other) * other))


class PageRank(_Ordering):
    """PageRank by evalica, with an arrow from loser to winner; a tie is half a win of each.

    Its compiled code makes all `rounds`.
    """

    name = "evalica.pagerank"
    reference = "Brin, Page 1998"

    damping: float = Field(
        default=0.85, gt=0, lt=1, description="chance to follow an arrow instead of jumping to any item"
    )
    rounds: PositiveInt = Field(default=100, description="products with the matrix")

    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        limit = at_most(self.rounds, run)
        found = evalica.pagerank(**compared, damping=self.damping, limit=limit)
        return found, limit if limit < self.rounds else 0
