"""Tasks that come after a fit, decided by what was learnt about workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation, log_odds, temperature
from optiframe_rankone.data import LabelTable, TruthTable
from optiframe_rankone.ids import Codes, exact_positions, fixed_codes

_TINY = 1e-300  # of a probability, so that its logarithm is finite


def decide(learnt: Aggregation, given: NDArray[np.int64], labels: LabelTable) -> Aggregation:
    """The answer to tasks from their labels alone and what an earlier answer knows of the workers.

    With confusion matrices: the posterior of each class, cooled as the earlier answer is. With skills
    alone: the vote in which a label counts the log-odds of its worker. Without: the majority. A worker
    who was not there before counts as the average one, every earlier label counting alike.

    Parameters
    ----------
    learnt
        The earlier answer.
    given
        Number of labels of each of its workers, shape (workers,).
    labels
        Labels of the tasks to decide. Time and memory are linear in these and in the workers.

    Raises
    ------
    InvalidInput
        For a label that is none of the earlier classes.
    """
    label, classes = _codes_in(learnt, labels), len(learnt.classes)
    # -1, a new worker, takes the last row below
    place = exact_positions(learnt.worker_ids, labels.worker_ids)
    share, skills, matrices = given / given.sum(), learnt.skills, learnt.confusion
    if skills is not None:
        skills = np.append(skills, share @ skills)[place]
    if matrices is None:
        weight = np.ones(len(place)) if skills is None else log_odds(skills, classes)
        scores = labels.votes(label, weight, classes)
    else:
        average = np.einsum("j,jkl->kl", share, matrices)
        logs = np.log(np.maximum(np.concatenate([matrices, average[None]])[place], _TINY))
        by_class = (logs[labels.worker, k, label] for k in range(classes))
        counts = (
            np.bincount(labels.task, weights=labels.weighted(each), minlength=len(labels.task_ids))
            for each in by_class
        )
        scores = np.column_stack(list(counts))
        if learnt.prior is not None:
            scores += np.log(np.maximum(learnt.prior, _TINY))
        scores /= temperature(learnt.cooling, labels.counted_per_task)[:, None]
    by_votes = skills is None and matrices is None
    return Aggregation(
        labels.task_ids,
        labels.worker_ids,
        learnt.classes,
        scores,
        "votes" if by_votes else "log-odds",
        skills,
        labels.backend,
    )


def share_right(answer: Aggregation, truth: TruthTable) -> float:
    """Share of right labels among the tasks with a known truth; a tie counts by the number of its labels."""
    known = np.flatnonzero(truth.label >= 0)
    code = truth.codes_in(answer.classes)[known]
    winners = answer.winners[known]
    right = winners[np.arange(len(known)), code] & (code >= 0)
    return float((right / winners.sum(axis=1)).mean())


def _codes_in(learnt: Aggregation, labels: LabelTable) -> Codes:
    """Index into the earlier classes of each label, shape (labels,)."""
    place = exact_positions(learnt.classes, labels.label_ids)
    unknown = labels.label_ids[place < 0]
    if len(unknown):
        row = int(np.flatnonzero(place[labels.label] < 0)[0])
        raise InvalidInput(
            f"labels: task {labels.task_ids[labels.task[row]]} has a label that fit did not see "
            f"({listed(unknown)}); the classes are {listed(learnt.classes)}"
        )
    return fixed_codes(place[labels.label])
