"""Majority vote."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.problem import LabelAggregation


class Majority(Solver[LabelAggregation, Aggregation, None]):
    """Majority vote: every label counts one.

    Needs nothing; ties stay ties. One pass over the labels; memory is the scores. A single
    worker is a majority of one.
    """

    name = "labels.majority"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    residual_meaning = "0: the vote is exact"

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        yield Iterate(problem.vote(np.ones(len(problem.labels.worker_ids)), "votes"), residual=0.0)
        return None
