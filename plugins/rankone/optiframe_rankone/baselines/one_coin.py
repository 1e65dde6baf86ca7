"""EM for the one-coin model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import confusion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.vote import first_vote


class OneCoinEM(Solver[LabelAggregation, Aggregation, None]):
    """EM for the one-coin (homogeneous) Dawid-Skene model with equally likely classes.

    Worker i is right with chance p_i and otherwise gives each of the other M - 1 labels
    with equal chance. Started at the vote shares of the majority (or at the posteriors of
    a given start), it alternates

    - p_i = expected share of right labels of worker i (M step), kept within
      [1/(2 N_i + 2), 1 - 1/(2 N_i + 2)] for N_i labels;
    - posterior of class l of task t proportional to exp(sum of log((M-1) p_i/(1-p_i)) over
      the workers who said l) (E step).

    The bounds are the estimates (k + 1/2)/(N + 1) of Jeffreys' prior for k = 0 and k = N
    right labels: N labels do not show that a worker is never wrong. Clipping is the exact
    M step under them, so the likelihood never falls. The trace has it as `log_likelihood`;
    the least-squares objective of the problem is not what EM lowers, and may rise. It ends after
    `steps` steps (status `finished`), sooner where the residual is within the tolerance.

    One iteration is two passes over the labels; memory is 8 bytes a label besides the scores.
    """

    name = "labels.one-coin-em"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    accepts_start = True
    # The last iterate is the answer: it has the highest likelihood, whatever the
    # least-squares objective says.
    monotone = True
    residual_meaning = "largest change of a worker's accuracy in the last iteration"
    reference = "Dawid and Skene 1979, EM; the model is Sec. 4.2 of Ma et al."

    steps: confusion.Steps = confusion.STEPS

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        count, classes = problem.labels.counted_per_worker, len(problem.classes)
        least = 1.0 / (2 * count + 2)
        posterior = self._first(problem, run).probabilities
        before = np.full(len(count), np.nan)  # nothing to compare with yet: residual nan
        for _ in range(self.steps):
            p = np.clip(problem.crowd.expected_hits(posterior) / count, least, 1.0 - least)
            answer = problem.weighted_vote((classes * p - 1.0) / (classes - 1))
            posterior = answer.probabilities
            yield Iterate(
                answer,
                residual=float(np.abs(p - before).max()),
                info={"log_likelihood": _log_likelihood(p, count, answer.scores)},
            )
            before = p
        return confusion.all_taken(self.steps)

    @staticmethod
    def _first(problem: LabelAggregation, run: Run) -> Aggregation:
        if run.start is None:
            return first_vote(problem.crowd)
        problem.check(run.start)
        start: Aggregation = run.start
        return start


def _log_likelihood(p: Array, count: Array, scores: Array) -> float:
    """Log-likelihood of all labels, classes equally likely; scores are sums of log-odds."""
    classes = scores.shape[1]
    top = scores.max(axis=1, keepdims=True)
    marginal = top[:, 0] + np.log(np.exp(scores - top).mean(axis=1))
    return float(marginal.sum() + np.dot(count, np.log((1.0 - p) / (classes - 1))))
