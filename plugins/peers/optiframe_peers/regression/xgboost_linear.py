"""XGBoost's linear booster on paired comparisons."""

from __future__ import annotations

import json
import math
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, NonNegativeFloat

from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_peers.libraries import absent, library, visiting
from optiframe_peers.regression.incidence import incidence, pull

_LEAST, _MOST = 1e-15, 1e15  # of the largest margin, so that its square is a number in single precision


class XgboostLinear(Solver[PairwiseRanking, Ranking, None]):
    """XGB_Linear: XGBoost's `gblinear` fits margins to differences of scores, a round at a time.

    Least squares by coordinate descent with a learning rate, in single precision; with `l2 = l1 = 0` it
    goes to the scores of `hodge.l2`. Each comparison is given both ways round, with half its weight, so
    that the intercept, which cannot be left out, is nothing. An iterate is a round.

    The paper's column XGB_Linear does not say how many rounds or what penalties; a budget decides here.
    """

    name = "xgboost.linear"
    reference = "Chen and Guestrin 2016; Xu et al., Sec. 5.1 (XGB_Linear)"
    solves = PairwiseRanking
    requires = ("xgboost-cpu:xgboost",)
    residual_meaning = (
        "largest entry of the gradient of least squares, over the largest degree; nan with a penalty"
    )

    l2: NonNegativeFloat = Field(
        default=0.0, description="XGBoost's lambda: L2 penalty for each unit of weight"
    )
    l1: NonNegativeFloat = Field(
        default=0.0, description="XGBoost's alpha: L1 penalty for each unit of weight"
    )
    rate: Annotated[float, Field(gt=0, le=1)] = Field(default=0.5, description="XGBoost's learning rate, eta")

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        largest = float(np.abs(problem.comparisons.margin).max(initial=0.0))
        if largest and not _LEAST < largest < _MOST:
            return (
                f"XGBoost calculates in single precision, and margins of up to {largest:g} do not fit; "
                "give them in another unit"
            )
        return absent(self)

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        xgboost = library("xgboost")
        graph = problem.graph
        once = incidence(graph).tocsr()
        with visiting(run, "xgboost", identifier="ranking.library-warning"):
            data = xgboost.DMatrix(
                sp.vstack([once, -once]).tocsr(),
                np.concatenate([graph.margin, -graph.margin]),
                weight=np.concatenate([graph.weight, graph.weight]) / 2,
                nthread=1,
            )
            booster = xgboost.Booster(
                {
                    "booster": "gblinear",
                    "objective": "reg:squarederror",
                    "base_score": 0.0,
                    "updater": "coord_descent",  # the other one races with itself
                    "reg_lambda": self.l2,
                    "reg_alpha": self.l1,
                    "eta": self.rate,
                    "nthread": 1,
                },
                [data],
            )
        last, k = np.full(graph.items, np.nan), 0
        while True:
            booster.update(data, k)
            k += 1
            scores = graph.centred(np.array(json.loads(booster.get_dump(dump_format="json")[0])["weight"]))
            misfit = np.abs(graph.margin - graph.differences(scores))
            residual = math.nan if self.l1 or self.l2 else pull(graph, scores)
            yield Iterate(problem.ranking(scores, strength=misfit), residual)
            if np.array_equal(scores, last):
                return Status.FINISHED, "a round changes nothing any more in single precision"
            last = scores
