"""What the adapters to evalica share."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from optiframe_hodgerank.problem import PairwiseRanking

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_peers.libraries import library, visiting
from optiframe_peers.ranking.pairs import Ranker

Arguments = dict[str, Any]


class Evalica(Ranker):
    """One of evalica's methods. A black box: one iterate, at the end, with the steps evalica counted.

    Equal comparisons go in as one row with a weight. Memory is O(items^2).
    """

    requires = ("evalica",)
    one_shot = True
    residual_meaning = "not computed; evalica's own tolerance decides"

    @abstractmethod
    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        """Evalica's result for the comparisons, and how many iterations it was allowed (0: no such)."""

    def misfit(self, problem: PairwiseRanking, scores: Array) -> float:
        """The residual of evalica's scores; nan unless a subclass knows better."""
        return math.nan

    def log_odds(self, result: Any, scores: Array) -> Array:
        """Scores whose differences are log-odds; by default evalica's are the strengths of Bradley-Terry."""
        return np.log(scores)

    def compared(self, evalica: Any, problem: PairwiseRanking) -> Arguments:
        """The comparisons as evalica's arguments, merged."""
        rows = problem.merged
        return arguments(evalica, rows.left, rows.right, rows.margin) | {"weights": rows.weight.tolist()}

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        with visiting(run, "evalica", identifier="ranking.library-warning"):
            evalica = library("evalica")
            result, limit = self.rank(evalica, self.compared(evalica, problem), run)
            strengths = result.scores.reindex(range(len(problem.item_ids))).to_numpy(dtype=np.float64)
            scores = self.log_odds(result, strengths)
        if not np.isfinite(scores).all():
            return Status.DIVERGED, "evalica's scores are not all numbers"
        steps = getattr(result, "iterations", 1)
        yield Iterate(scores, self.misfit(problem, strengths), steps=max(1, steps))
        if limit and steps >= limit:
            return Status.ITERATION_LIMIT, f"evalica made all {limit} iterations"
        return None


def arguments(evalica: Any, left: Any, right: Any, margin: Array) -> Arguments:
    """Pairs of codes and who won, row by row."""
    winner = {1: evalica.Winner.X, -1: evalica.Winner.Y, 0: evalica.Winner.Draw}
    return {
        "xs": left.tolist(),
        "ys": right.tolist(),
        "winners": [winner[sign] for sign in margin.astype(int).tolist()],
    }
