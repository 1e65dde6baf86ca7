"""Iterative weighted majority voting."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.vote import first_vote


class IterativeWeightedMajority(Solver[LabelAggregation, Aggregation, None]):
    """Iterative weighted majority voting (Li and Yu).

    Started at the majority vote, it alternates

    - w_i = share of worker i's labels that agree with the current answer;
    - the vote in which a label of worker i counts M w_i - 1, for M classes.

    A tied task counts as the mean over its tied classes. Ends, as a rule after a few rounds,
    when no w_i changes; an answer that goes round in a cycle ends at the iteration limit. One
    round is two passes over the labels; memory is the scores.

    M w - 1 is (M - 1) s for the skill s, and M s is the log-odds weight to first order in s.
    Scores are therefore reported as M s: the same vote, and probabilities that are right to
    first order (too timid for good workers).
    """

    name = "labels.iwmv"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    accepts_start = True
    # The last iterate is the method's answer, whatever the least-squares objective says.
    monotone = True
    residual_meaning = "largest change of a worker's share of agreement in the last round"
    reference = "Li and Yu 2014, Error rate bounds and iterative weighted majority voting"

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        labels, classes = problem.labels, len(problem.classes)
        if run.start is None:
            answer = first_vote(problem.crowd)
        else:
            problem.check(run.start)
            answer = run.start
        before = np.full(len(labels.worker_ids), np.nan)
        while True:
            credit = answer.winners / answer.winners.sum(axis=1, keepdims=True)
            agreement = problem.crowd.expected_hits(credit) / labels.counted_per_worker
            skills = (classes * agreement - 1.0) / (classes - 1)
            answer = replace(problem.vote(classes * skills, "log-odds", skills), reverses=True)
            yield Iterate(answer, residual=float(np.abs(agreement - before).max()))
            before = agreement
