"""The weighted vote: from what each label counts to the answer, in which gold is certain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving import sources
from optiframe.solving.result import Result
from optiframe_rankone.answer import Aggregation, log_odds
from optiframe_rankone.completion.skill_model import Source, model_of
from optiframe_rankone.data import Crowd

_CERTAIN = -float(np.log(np.finfo(np.float64).eps))
"""Log-odds of a label that is certain, about 36: one rounding error away from probability 1, as
for the votes of a perfect worker."""


Given: TypeAlias = Aggregation | Result[Any, Any] | None
"""An answer as tools take it: by itself, in a result, or None where the labels come with one."""


def weighted_vote(crowd: Crowd, skills: Array) -> Aggregation:
    """The vote in which every label counts the log-odds of its worker."""
    answer = vote(crowd, log_odds(skills, len(crowd.classes)), "log-odds", skills)
    return replace(answer, reverses=True)


def vote(
    crowd: Crowd, weight: Array, scale: Literal["votes", "log-odds"], skills: Array | None = None
) -> Aggregation:
    """The vote in which a label of worker i counts ``weight[i]``, shape (workers,)."""
    labels = crowd.labels
    if np.shape(weight) != labels.worker_ids.shape:
        wanted = f"{len(labels.worker_ids)} numbers, one for each worker"
        raise InvalidInput(f"weight must be {wanted}, got shape {np.shape(weight)}")
    return from_scores(crowd, crowd.votes(weight), scale, skills)


def first_vote(crowd: Crowd) -> Aggregation:
    """Where EM begins: the majority; with gold, the vote weighted by what gold says of each worker.

    A worker who was right on r of n gold tasks has weight log((M - 1) p/(1 - p)), p = (4 + r)/(6 + n): a few
    gold tasks then outweigh a majority that errs on them, which EM from the majority would confirm.
    """
    labels, workers, classes = crowd.labels, len(crowd.labels.worker_ids), len(crowd.classes)
    truth = crowd.gold_codes[labels.task]
    if not (truth >= 0).any():
        return vote(crowd, np.ones(workers), "votes")
    asked, right = (
        np.bincount(labels.worker, weights=labels.weighted(told.astype(np.float64)), minlength=workers)
        for told in (truth >= 0, truth == crowd.label_codes)
    )
    p = (4.0 + right) / (6.0 + asked)
    return weighted_vote(crowd, (classes * p - 1.0) / (classes - 1.0))


def from_scores(
    crowd: Crowd, scores: Array, scale: Literal["votes", "log-odds"], skills: Array | None = None
) -> Aggregation:
    """The answer with these scores, shape (tasks, classes); gold is certain in it."""
    labels = crowd.labels
    wanted = len(labels.task_ids), len(crowd.classes)
    if getattr(scores, "shape", None) == wanted:  # `check` refuses others
        scores = _with_gold(scores, crowd.gold_codes, scale)
    return Aggregation(
        labels.task_ids, labels.worker_ids, crowd.classes, scores, scale, skills, labels.backend
    )


def check_ids(crowd: Crowd, solution: Any) -> None:
    """Raise `InvalidInput` unless this is an answer for these tasks, workers and classes."""
    if not isinstance(solution, Aggregation):
        raise InvalidInput(
            f"an answer to label-aggregation is an Aggregation, such as the solution of an earlier "
            f"run, not a {type(solution).__name__}"
        )
    for what, theirs, ours in (
        ("tasks", solution.task_ids, crowd.labels.task_ids),
        ("workers", solution.worker_ids, crowd.labels.worker_ids),
        ("classes", solution.classes, crowd.classes),
    ):
        if theirs is not ours and not np.array_equal(theirs, ours):
            raise InvalidInput(f"this answer is for other {what} than the problem's")


def check(crowd: Crowd, solution: Any) -> None:
    """Raise `InvalidInput` unless this is an answer for this crowd, and finite."""
    check_ids(crowd, solution)
    solution.check_numbers()


def answer_of(source: Source, solution: Given = None) -> Aggregation:
    """The solution, checked; without one, that of the result or fitted `LabelAggregator`.

    Raises
    ------
    InvalidInput
        When there is none, or it is not for these labels.
    """
    answer: Aggregation = sources.answer_of(source, solution)
    check(model_of(source).crowd, answer)
    return answer


def with_skills(source: Source, solution: Given = None) -> tuple[Aggregation, Array]:
    """`answer_of`, and its skills; `InvalidInput` without any."""
    answer = answer_of(source, solution)
    if answer.skills is None:
        raise InvalidInput("this answer has no skills; use a method that estimates them, such as rankone.pgd")
    return answer, answer.skills


def _with_gold(scores: Array, gold: NDArray[np.int64], scale: Literal["votes", "log-odds"]) -> Array:
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
