"""Bradley-Terry by maximum likelihood, by choix."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, NonNegativeFloat, PositiveFloat

from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_peers.libraries import library, visiting
from optiframe_peers.ranking.pairs import Ranker, infinite, not_countable, win_list

_ANY = 1e300  # a change that choix takes for converged, whatever it is


class Opt(Ranker):
    """Scores of the Bradley-Terry model under a normal prior, by choix through SciPy's optimizers.

    choix knows no ties: a tie goes in as a win of each, every other comparison then counting twice. It
    loops over comparisons in Python, and does not say whether it has converged.
    """

    name = "choix.opt"
    reference = "Bradley, Terry 1952"
    requires = ("choix", "scipy")
    one_shot = True
    residual_meaning = "not computed; SciPy's own tolerance decides"

    alpha: NonNegativeFloat = Field(default=1e-6, description="weight of the squared scores (the prior)")
    method: Literal["Newton-CG", "BFGS"] = Field(
        default="Newton-CG", description="SciPy's name of the optimizer"
    )
    change: PositiveFloat = Field(
        default=1e-5, description="SciPy's tolerance; its meaning depends on the method"
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return (
            super().unsuited(problem) or not_countable(problem) or (None if self.alpha else infinite(problem))
        )

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        wins, copies = win_list(problem)
        left = run.steps_left()
        with visiting(run, "choix", identifier="ranking.library-warning"):
            choix = library("choix")
            scores = choix.opt_pairwise(
                len(problem.item_ids),
                wins,
                alpha=self.alpha * copies,
                method=self.method,
                max_iter=None if math.isinf(left) else int(left),
                tol=self.change,
            )
        yield Iterate(scores)


class Mm(Ranker):
    """Scores of the Bradley-Terry model by choix's minorization-maximization.

    An iterate is two of choix's iterations, the fewest after which it gives its scores. A tie goes in as
    a win of each, every other comparison then counting twice. choix loops over comparisons in Python.
    """

    name = "choix.mm"
    dense = False
    reference = "Hunter 2004; Caron, Doucet 2012"
    requires = ("choix",)
    residual_meaning = "mean change of a score in the last two iterations"

    alpha: NonNegativeFloat = Field(default=0.0, description="shape of the gamma prior, less 1")

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return (
            super().unsuited(problem) or not_countable(problem) or (None if self.alpha else infinite(problem))
        )

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        wins, copies = win_list(problem)
        scores = np.zeros(len(problem.item_ids))
        while True:
            with visiting(run, "choix", identifier="ranking.library-warning"):
                moved = library("choix").mm_pairwise(
                    len(scores), wins, scores, alpha=self.alpha * copies, max_iter=2, tol=_ANY
                )
            residual = float(np.abs(moved - scores).mean())
            scores = moved
            yield Iterate(scores, residual=residual)
