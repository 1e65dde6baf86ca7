"""Elo ratings by evalica."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, PositiveFloat

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.ranking.evalica_kit import Arguments, Evalica, arguments


class Elo(Evalica):
    """Elo ratings by evalica: one pass over the comparisons in the order of the rows.

    The order matters: later comparisons count more. A tie is half a win of each. Ratings become log-odds
    by ln(10)/400. Weights are refused: evalica weights what was scored and not what was expected.
    """

    name = "evalica.elo"
    dense = False
    reference = "Elo 1978"

    k: PositiveFloat = Field(default=4.0, description="points moved by a certain win against all odds")

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        weight = problem.comparisons.weight
        if weight is not None and (weight != 1.0).any():
            return "evalica's Elo weights what was scored and not what was expected; give no weights"
        return super().unsuited(problem)

    def compared(self, evalica: Any, problem: PairwiseRanking) -> Arguments:
        table = problem.comparisons
        return arguments(evalica, table.left, table.right, table.margin)

    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        return evalica.elo(**compared, k=self.k), 0

    def log_odds(self, result: Any, scores: Array) -> Array:
        return np.asarray((scores - result.initial) * (math.log(result.base) / result.scale))
