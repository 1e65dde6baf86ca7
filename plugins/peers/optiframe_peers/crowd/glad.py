"""crowd-kit's GLAD."""

from __future__ import annotations

from typing import Any

import numpy as np
from optiframe_rankone.problem import LabelAggregation
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.special import expit

from optiframe.solving.solver import Run
from optiframe_peers.crowd.kit import CrowdKit, Fit, by_shares, skills_of
from optiframe_peers.libraries import at_most


class Glad(CrowdKit):
    """GLAD by crowd-kit: abilities of workers times difficulties of tasks, by EM.

    Any number of classes. A worker's skill is from its mean chance of being right on its own tasks,
    1/(1 + exp(-ability * ease)). Slow: each EM step is a run of conjugate gradients through pandas,
    about a second an iteration for 8,000 labels.
    """

    name = "crowdkit.glad"
    reference = "Whitehill, Wu, Bergsma, Movellan, Ruvolo 2009"

    rounds: PositiveInt = Field(default=100, description="EM iterations at most")
    change: NonNegativeFloat = Field(
        default=1e-5, description="stop when the expected likelihood rises by less than this a label"
    )

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        limit = at_most(self.rounds, run)
        em = kit.GLAD(n_iter=limit, tol=self.change).fit(table)
        ability, log_ease = em.alphas_.loc[table.worker].to_numpy(), em.betas_.loc[table.task].to_numpy()
        right = table.assign(right=expit(ability * np.exp(log_ease)))
        skills = skills_of(problem, right.groupby("worker")["right"].mean())
        return Fit(by_shares(problem, em.probas_, skills), len(em.loss_history_), limit)
