"""scikit-learn's Huber regression on paired comparisons."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, PositiveFloat

from optiframe.numbers import number
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_peers.libraries import absent, library, visiting
from optiframe_peers.regression.incidence import incidence, pull

_STEPS = 100_000  # of L-BFGS, where the budget has no limit


class SklearnHuber(Solver[PairwiseRanking, Ranking, None]):
    """scikit-learn's `HuberRegressor`: scores and the scale sigma of the noise at once, by L-BFGS.

    Minimizes the sum of w (sigma + sigma H((y - X theta)/sigma)), where H is z^2 up to epsilon and linear
    beyond. At its sigma the scores are those of Huber-LASSO with lambda = epsilon sigma, so the
    comparisons off by more are the outliers. `hodge.hlasso` with `stop_rule = "huber"` measures the scale
    with another constant, that makes it the standard deviation of normal noise.
    """

    name = "sklearn.huber"
    reference = "Huber 1981; Owen 2007; Pedregosa et al. 2011, scikit-learn"
    solves = PairwiseRanking
    requires = ("scikit-learn:sklearn.linear_model",)
    one_shot = True
    residual_meaning = (
        "largest entry of the gradient of Huber's loss at epsilon sigma, over that and the largest degree"
    )

    epsilon: Annotated[float, Field(ge=1)] = Field(
        default=1.35, description="misfit over sigma that is an outlier"
    )
    tolerance: PositiveFloat = Field(
        default=1e-9, description="of L-BFGS, on the largest entry of the gradient"
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return absent(self)

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph = problem.graph
        regressor = library("sklearn.linear_model").HuberRegressor
        limit = int(min(run.steps_left(), _STEPS))
        huber = regressor(
            epsilon=self.epsilon, alpha=0.0, fit_intercept=False, tol=self.tolerance, max_iter=limit
        )
        try:
            with visiting(run, "scikit-learn", identifier="ranking.library-warning"):
                huber.fit(incidence(graph).tocsr(), graph.margin, sample_weight=graph.weight)
        except ValueError as error:  # its own verdict on L-BFGS
            return Status.STALLED, f"scikit-learn: {error}"
        scores, level = graph.centred(huber.coef_), float(self.epsilon * huber.scale_)
        misfit = graph.margin - graph.differences(scores)
        ranking = problem.ranking(
            scores, outliers=misfit - np.clip(misfit, -level, level), strength=np.abs(misfit)
        )
        steps = min(max(1, int(huber.n_iter_)), limit)
        yield Iterate(ranking, pull(graph, scores, level) / max(level, 1e-300), steps=steps)
        return Status.FINISHED, f"sigma = {number(huber.scale_, 6)}, so lambda = {number(level, 6)}"
