"""crowd-kit's message passing of Karger, Oh and Shah."""

from __future__ import annotations

from typing import Any

import numpy as np
from optiframe_rankone.problem import LabelAggregation
from pydantic import Field, PositiveInt

from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run
from optiframe_peers.crowd.kit import CrowdKit, Fit
from optiframe_peers.libraries import at_most, seed


class Kos(CrowdKit):
    """Message passing between tasks and workers by crowd-kit, a fixed number of rounds.

    Two classes only. It gives labels without a margin, so every confidence is 1, and no skills. Its
    messages are not scaled and grow from round to round; it stops where they reach 1e300. A task whose
    messages cancel has no label, such as one whose workers said nothing else: crowd-kit raises then,
    and the run ends as stalled.
    """

    name = "crowdkit.kos"
    reference = "Karger, Oh, Shah 2014"

    rounds: PositiveInt = Field(default=100, description="rounds of messages")

    def unsuited(self, problem: LabelAggregation) -> str | None:
        if len(np.unique(problem.label_codes)) != 2:
            return f"crowd-kit's KOS takes labels of two classes; these have {len(problem.labels.label_ids)}"
        return super().unsuited(problem)

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        try:
            return (yield from super().iterates(problem, run))
        except KeyError as error:
            return Status.STALLED, (
                f"crowd-kit's KOS has no label for a task whose messages cancel, and raises KeyError: {error}"
            )

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        rounds = at_most(self.rounds, run)  # fewer than asked for only where the budget has fewer
        labels = kit.KOS(n_iter=rounds, random_state=seed(run)).fit_predict(table)
        scores = np.zeros((len(problem.labels.task_ids), len(problem.classes)))
        scores[labels.index, labels] = 1.0
        return Fit(problem.from_scores(scores, "votes"), rounds, rounds if rounds < self.rounds else 0)
