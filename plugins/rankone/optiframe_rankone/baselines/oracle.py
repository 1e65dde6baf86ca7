"""The vote with the true skills."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.problem import LabelAggregation


class Oracle(Solver[LabelAggregation, Aggregation, None]):
    """The vote with the true skills, the "Bayes" of the paper's Tables 1 and 2.

    Needs the input `skills` of the problem, as generated data has it; no method can expect
    fewer errors under the one-coin model with equally likely classes. A worker whose skill is not
    among them has skill 0, so no weight, and the result names that worker. One pass over the labels.
    """

    name = "labels.oracle"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    residual_meaning = "0: the vote is exact"
    reference = "Ma et al., Eq. 1 and Sec. 4.2"

    def unsuited(self, problem: LabelAggregation) -> str | None:
        if problem.true_skills is None:
            return "the vote with the true skills needs the input `skills` (columns worker, skill)"
        return None

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        assert problem.true_skills is not None  # `unsuited` said so
        unknown = np.isnan(problem.true_skills)
        if unknown.any():
            ids = problem.labels.worker_ids[unknown]
            run.warn(
                f"no true skill is given for {listed(ids)}: their labels have no weight; add their skills",
                tuple(ids.tolist()),
                identifier="labels.missing-true-skill",
            )
        yield Iterate(problem.weighted_vote(np.where(unknown, 0.0, problem.true_skills)), residual=0.0)
        return None
