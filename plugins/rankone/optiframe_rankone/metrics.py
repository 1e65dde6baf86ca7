"""Scores of an answer against what is known: true labels, true skills."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.records.fields import Array, as_vector
from optiframe_rankone.answer import Aggregation, accuracy
from optiframe_rankone.completion.skill_model import Source, model_of
from optiframe_rankone.data import Crowd
from optiframe_rankone.vote import weighted_vote

_ROUNDING = 1e-9  # room for a skill out of a rounded file


def scored(crowd: Crowd) -> NDArray[np.intp]:
    """Tasks that count for the metrics: with a known truth and without gold, shape (known,)."""
    return np.flatnonzero((crowd.truth_codes >= 0) & (crowd.gold_codes < 0))


def label_errors(crowd: Crowd, solution: Aggregation, tie_seed: int) -> dict[str, float]:
    """`error`, `error_resolved`, `balanced_error`; empty when no task counts.

    A task whose scores are not finite has no winner, and counts as wrong.
    """
    known = scored(crowd)
    if len(known) == 0:
        return {}
    truth = crowd.truth_codes[known]
    wrong = _wrong(solution, known, truth)
    size = np.bincount(truth, minlength=len(crowd.true_classes))
    per_class = np.bincount(truth, weights=wrong, minlength=len(size))[size > 0] / size[size > 0]
    return {
        "error": float(wrong.mean()),
        "error_resolved": float(_wrong_resolved(solution, known, truth, tie_seed).mean()),
        "balanced_error": float(per_class.mean()),
    }


def error_of_chance(crowd: Crowd) -> dict[str, float]:
    """`error` of always answering the most frequent true label; empty where it is the only one."""
    truth = crowd.truth_codes[scored(crowd)]
    most = float(np.bincount(truth).max()) / len(truth) if len(truth) else 1.0
    return {} if most == 1.0 else {"error": 1.0 - most}


def regret(crowd: Crowd, solution: Aggregation) -> dict[str, float]:
    """`regret`: `error` minus that of the vote with the true skills; needs every true skill.

    Below 0 where the vote with the true skills was the less lucky one.
    """
    known, skills = scored(crowd), crowd.true_skills
    if len(known) == 0 or skills is None or np.isnan(skills).any():
        return {}
    truth, oracle = crowd.truth_codes[known], weighted_vote(crowd, skills)
    return {"regret": float((_wrong(solution, known, truth) - _wrong(oracle, known, truth)).mean())}


def skill_errors(crowd: Crowd, solution: Aggregation) -> dict[str, float]:
    """`skill_error_l2` and `skill_error_max`: norms of the estimated minus the known true skills.

    nan where an estimate is not finite.
    """
    skills = crowd.true_skills
    if skills is None or solution.skills is None or np.isnan(skills).all():
        return {}
    gap = np.abs(solution.skills - skills)[~np.isnan(skills)]
    if not np.isfinite(gap).all():
        return {"skill_error_l2": float("nan"), "skill_error_max": float("nan")}
    return {"skill_error_l2": float(np.linalg.norm(gap)), "skill_error_max": float(gap.max())}


def lemma_3_bound(crowd: Crowd) -> dict[str, float]:
    """`lemma_3_bound`: mean over tasks without gold of Lemma 3's bound; needs every true skill."""
    skills, open_tasks = crowd.true_skills, crowd.gold_codes < 0
    if skills is None or np.isnan(skills).any() or not open_tasks.any():
        return {}
    return {"lemma_3_bound": float(_bounds(crowd, skills)[open_tasks].mean())}


def committee_potential(problem: Source, skills: Array) -> Array:
    """Phi of each task, shape (tasks,): how much its workers know together.

    For two classes Phi = sum of (p_i - 1/2) log(p_i/(1 - p_i)) = 1/2 sum of
    s_i log((1 + s_i)/(1 - s_i)) over the workers of the task (Berend and Kontorovich 2014).
    For M > 2 classes the exponent of a Chernoff bound takes its place: -2 times the sum of
    log(1 - (sqrt(p_i) - sqrt(q_i))^2), where q_i = (1 - p_i)/(M - 1) is the chance of one
    wrong label. Skills of 1 and -1 are kept one rounding error inside, as in the vote.

    Parameters
    ----------
    problem
        A label-aggregation problem, a result for it, or a fitted `LabelAggregator`.
    skills
        Shape (workers,); true ones, or estimates for an estimate.

    Raises
    ------
    InvalidInput
        When the skills are not one number from -1/(M-1) to 1 for each worker.

    Notes
    -----
    Lemma 3 of the paper prints Phi without the factor 1/2, with which its bound exp(-Phi/2)
    does not hold: for 101 workers of skill 0.3 the best vote errs with probability 9.9e-4,
    the printed bound is 8.4e-5, and this one 9.2e-3.
    """
    return _potential(model_of(problem).crowd, skills)


def _potential(crowd: Crowd, skills: Array) -> Array:
    labels, classes = crowd.labels, len(crowd.classes)
    skills = _checked(crowd, skills)
    tiny = float(np.finfo(np.float64).eps)
    p = np.clip(accuracy(skills, classes), tiny, 1.0 - tiny)
    if classes == 2:
        each = (p - 0.5) * np.log(p / (1.0 - p))
    else:
        each = -2.0 * np.log(1.0 - (np.sqrt(p) - np.sqrt((1.0 - p) / (classes - 1))) ** 2)
    tasks = len(labels.task_ids)
    return np.asarray(np.bincount(labels.task, weights=each[labels.worker], minlength=tasks))


def error_bounds(problem: Source, skills: Array) -> Array:
    """A bound on the chance that the vote with these skills errs if they are the true ones; shape (tasks,).

    With estimated skills it bounds nothing. Lemma 3, exp(-Phi/2), for each of the M - 1 wrong labels,
    and never above 1 - 1/M, which guessing achieves. Before the labels are seen: about who answers, not
    about what they said; `1 - confidence` is what the labels themselves say. Gold is not taken into account.

    Raises
    ------
    InvalidInput
        When the skills are not one number from -1/(M-1) to 1 for each worker.
    """
    return _bounds(model_of(problem).crowd, skills)


def _bounds(crowd: Crowd, skills: Array) -> Array:
    classes = len(crowd.classes)
    bound = (classes - 1) * np.exp(-_potential(crowd, skills) / 2.0)
    return np.asarray(np.minimum(bound, 1.0 - 1.0 / classes))


def _checked(crowd: Crowd, skills: Array) -> Array:
    """The skills as a vector, once it is clear that they can be skills of these workers."""
    workers = len(crowd.labels.worker_ids)
    vector = as_vector(skills)
    if vector.shape != (workers,):
        raise InvalidInput(f"skills must be {workers} numbers, one for each worker, got {len(vector)}")
    least = -1.0 / (len(crowd.classes) - 1)
    wrong = np.flatnonzero(~((vector >= least - _ROUNDING) & (vector <= 1.0 + _ROUNDING)))
    if len(wrong):
        worker = crowd.labels.worker_ids[wrong[0]]
        raise InvalidInput(
            f"the skill of worker {worker} is {vector[wrong[0]]:g}; with {len(crowd.classes)} classes a "
            f"skill is a number from {number(least, 6)} (always wrong) to 1 (always right)"
        )
    return vector


def _wrong_resolved(
    solution: Aggregation, tasks: NDArray[np.intp], truth: NDArray[np.int64], seed: int
) -> NDArray[np.bool_]:
    """Whether the label drawn from each task's winners is wrong; so it is where there is no winner."""
    none = ~solution.winners[tasks].any(axis=1)
    return np.asarray((solution.predicted_codes(seed)[tasks] != truth) | none)


def _wrong(solution: Aggregation, tasks: NDArray[np.intp], truth: NDArray[np.int64]) -> Array:
    """Wrongness of each task: a tie of k labels counts 1 - 1/k when the truth is among them.

    A true label that is no class, with a code beyond theirs, is never among them.
    """
    winners, wrong = solution.winners[tasks], np.ones(len(tasks))
    among = np.flatnonzero(truth < winners.shape[1])
    won = winners[among]
    tied = np.maximum(won.sum(axis=1), 1)  # 0 where scores are not finite
    wrong[among] -= won[np.arange(len(among)), truth[among]] / tied
    return wrong
