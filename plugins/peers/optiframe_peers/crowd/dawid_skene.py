"""crowd-kit's EM for confusion matrices and for one accuracy a worker."""

from __future__ import annotations

from typing import Any

import numpy as np
from optiframe_rankone.problem import LabelAggregation
from pydantic import Field, PositiveInt

from optiframe.solving.solver import Run
from optiframe_peers.crowd.kit import CrowdKit, Fit, by_shares, skills_of
from optiframe_peers.libraries import at_most, library


class Em(CrowdKit):
    """What crowd-kit's two EM methods of Dawid and Skene share: when they end."""

    rounds: PositiveInt = Field(default=100, description="EM iterations at most")
    change: float = Field(
        default=1e-5,
        description="stop when crowd-kit's bound rises by less than this a label; below 0: never",
    )


class DawidSkene(Em):
    """EM for full confusion matrices by crowd-kit.

    Needs several labels of each worker for each class. Any number of classes; gold is taken for
    certain while it learns. Skills are those of the accuracy weighted with the estimated prior.

    The bound that ends it counts the prior once a label, not once a task, so it may fall while
    the likelihood still rises, and EM then ends early; `change = -1` makes all `rounds`.
    """

    name = "crowdkit.dawid-skene"
    reference = "Dawid and Skene 1979"

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        limit = at_most(self.rounds, run)
        known = np.flatnonzero(problem.gold_codes >= 0)
        gold = library("pandas").Series(problem.gold_codes[known], index=known)
        em = kit.DawidSkene(n_iter=limit, tol=self.change).fit(table, gold if len(known) else None)
        return Fit(
            by_shares(problem, em.probas_, skills_of(problem, _accuracy(em))), len(em.loss_history_), limit
        )


class OneCoin(Em):
    """EM for one accuracy a worker by crowd-kit, with an estimated prior.

    Any number of classes. Ours, `labels.one-coin-em`, takes classes for equally likely and keeps
    accuracies further from 0 and 1.
    """

    name = "crowdkit.one-coin"
    reference = "Zhang, Chen, Zhou, Jordan 2016"

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        limit = at_most(self.rounds, run)
        em = kit.OneCoinDawidSkene(n_iter=limit, tol=self.change).fit(table)
        return Fit(
            by_shares(problem, em.probas_, skills_of(problem, em.skills_)), len(em.loss_history_), limit
        )


def _accuracy(em: Any) -> Any:
    """A worker's chance of being right: over the true classes, by their prior."""
    label = em.errors_.index.get_level_values("label")
    right = sum(em.errors_[k].where(label == k, 0.0) * em.priors_[k] for k in em.errors_.columns)
    return right.groupby(level="worker").sum()
