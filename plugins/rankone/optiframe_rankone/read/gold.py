"""Gold: tasks whose true label is known before anything is solved."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes

_CERTAIN = -float(np.log(np.finfo(np.float64).eps))
"""Log-odds of a label that is certain, about 36: one rounding error away from probability 1, as
for the votes of a perfect worker."""


def settle(scores: Array, gold: NDArray[np.int64], scale: Literal["votes", "log-odds"]) -> Array:
    """Scores in which every task with gold has its true label for certain.

    Parameters
    ----------
    scores
        Shape (tasks, classes).
    gold
        Index of the true class, -1 where there is no gold, shape (tasks,).
    scale
        Votes: all votes of the task go to the true class. Log-odds: the true class keeps its
        score and the others fall to `_CERTAIN` below it, so that sums of exp(scores) are
        still the likelihood of the task's labels.
    """
    known = np.flatnonzero(gold >= 0)
    if len(known) == 0:
        return scores
    scores, truth = scores.copy(), gold[known]
    if scale == "votes":
        certain, others = scores[known].sum(axis=1), np.zeros(len(known))
    else:
        certain = scores[known, truth]
        others = certain - _CERTAIN
    scores[known] = others[:, None]
    scores[known, truth] = certain
    return scores


def agreement(
    task: Codes, worker: Codes, label: Codes, gold: NDArray[np.int64], *, workers: int, classes: int
) -> Array:
    """N_i C_i of each worker with the gold, shape (workers,): sum over the gold tasks of the
    product of the labels, 1 where they are equal and -1/(M-1) where they differ (Lemma 7 with
    a second worker of skill 1, whose expectation is the skill)."""
    truth = gold[task]
    asked = np.flatnonzero(truth >= 0)
    product = np.where(label[asked] == truth[asked], 1.0, -1.0 / (classes - 1))
    return np.asarray(np.bincount(worker[asked], weights=product, minlength=workers), dtype=np.float64)
