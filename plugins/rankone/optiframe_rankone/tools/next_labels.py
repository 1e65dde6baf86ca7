"""Which label to ask for next: what one more label is expected to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids, listed
from optiframe_rankone.answer import accuracy
from optiframe_rankone.completion.skill_model import Source, model_of
from optiframe_rankone.data import LabelTable
from optiframe_rankone.ids import exact_positions
from optiframe_rankone.vote import Given, answer_of

_SMALLEST = 1e-12  # a gain below it is the rounding of a difference of probabilities


def suggest(
    problem: Source,
    solution: Given = None,
    n: int = 10,
    *,
    seed: int = 0,
    workers: Sequence[Any] | Literal["all", "average"] = "all",
    measure: Literal["error", "information"] = "error",
) -> Any:
    """The tasks that most need another label, and whom to ask, the greatest expected gain first.

    Each task is asked of the worker, among those who may be asked and have not labelled it,
    from whom the most is expected. Tasks with gold are known and left out, and so are tasks
    that everyone who may be asked has labelled.

    Parameters
    ----------
    problem, solution
        The problem, and an answer to it with skills and posteriors (not a plain majority vote); or the
        result of a solver, or a fitted `LabelAggregator`, alone.
    n
        How many tasks at most.
    seed
        Settles who comes first among tasks that are alike.
    workers
        Who may be asked: a list of ids; "all"; or "average", for somebody of the mean skill
        of the labels so far, who is not named (worker is None).
    measure
        What the gain is; see `expected_gain`.

    Returns
    -------
    frame
        Columns `task, worker, gain, confidence` (`confidence` before the label), as the kind of
        frame the labels came in. Among tasks of equal gain the least confident comes first.

    Raises
    ------
    InvalidInput
        When the answer has no skills or is for another problem, a worker is not known, or
        n is not positive.

    Notes
    -----
    Takes the estimated skills for true and looks one label ahead, so a batch of suggestions
    is right for its first and a heuristic for the rest: solve again as labels come in. Time is
    linear in tasks times classes, and in the labels.
    """
    crowd, answer = model_of(problem).crowd, answer_of(problem, solution)
    if answer.skills is None or answer.scale != "log-odds":
        raise InvalidInput(
            "no label can be suggested, because this answer has no skills and posteriors; use a method that "
            "gives them, such as rankone.pgd"
        )
    if isinstance(n, bool) or n < 1:
        raise InvalidInput(f"n must be at least 1, got {n}")
    posterior, classes = answer.probabilities, len(crowd.classes)
    open_tasks = np.flatnonzero(crowd.gold_codes < 0)
    if isinstance(workers, str) and workers == "average":
        mean = float(np.average(answer.skills, weights=crowd.labels.per_worker))
        skill = np.full(len(open_tasks), mean)
        asked = np.full(len(open_tasks), None, dtype=object)
        gain = expected_gain(posterior[open_tasks], accuracy(skill, classes), measure)
    else:
        # The gain grows with the distance of the skill from 0, on either side: the best to ask is
        # the most able one who is free, or the most reliably wrong one.
        allowed = _allowed(crowd.labels.worker_ids, workers)
        by_skill = allowed[np.argsort(-answer.skills[allowed], kind="stable")]
        best, worst = (_first_free(crowd.labels, open_tasks, order) for order in (by_skill, by_skill[::-1]))
        free = best >= 0
        open_tasks, best, worst = open_tasks[free], best[free], worst[free]
        gains = [
            expected_gain(posterior[open_tasks], accuracy(answer.skills[who], classes), measure)
            for who in (best, worst)
        ]
        who = np.where(gains[1] > gains[0] + _SMALLEST, worst, best)
        gain, asked = np.maximum(*gains), crowd.labels.worker_ids[who]
    confidence = posterior[open_tasks].max(axis=1)
    chance = np.random.default_rng(seed).random(len(open_tasks))
    # Rounded, so that tasks that are alike but for rounding are settled by confidence and seed.
    order = np.lexsort((chance, np.round(confidence, 12), -np.round(gain, 12)))[:n]
    columns: Columns = {
        "task": crowd.labels.task_ids[open_tasks[order]],
        "worker": asked[order],
        "gain": gain[order],
        "confidence": confidence[order],
    }
    return to_frame(columns, crowd.labels.backend)


def expected_gain(
    posterior: Array, accuracies: Array, measure: Literal["error", "information"] = "error"
) -> Array:
    """What one more label of each task is expected to gain, shape (tasks,), at least 0.

    The label is y with probability P(y) = sum_l pi_l P(y | l), where P(y | l) is p for y = l
    and (1 - p)/(M - 1) otherwise, and turns the posterior pi into pi_l P(y | l)/P(y).

    - "error": by how much the posterior error 1 - max_l pi_l falls in the mean,
      sum_y max_l pi_l P(y | l) - max_l pi_l. It is 0 where no single label could change the
      decision.
    - "information": by how much the entropy of the posterior falls in the mean, in nats (the
      mutual information of label and truth; Lindley 1956). Positive wherever anything is open.

    Parameters
    ----------
    posterior
        Shape (tasks, classes), rows sum to 1.
    accuracies
        Chance p that the label is right, shape (tasks,).
    """
    if measure not in ("error", "information"):
        raise InvalidInput(f"measure must be 'error' or 'information', got {measure!r}")
    classes = posterior.shape[1]
    right = accuracies[:, None]
    wrong = (1.0 - right) / (classes - 1)
    if measure == "information":
        said = posterior * right + (1.0 - posterior) * wrong
        noise = _entropy(np.concatenate([right, np.repeat(wrong, classes - 1, axis=1)], axis=1))
        return np.maximum(_entropy(said) - noise, 0.0)
    # The largest of the other classes: the second largest for the winner, the largest for the rest.
    ordered = np.sort(posterior, axis=1)
    rival = np.where(posterior == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
    after = np.maximum(posterior * right, rival * wrong).sum(axis=1)
    return np.asarray(np.maximum(after - ordered[:, -1], 0.0))


def _entropy(chances: Array) -> Array:
    logs = np.log(chances, out=np.zeros_like(chances), where=chances > 0)
    return np.asarray(-(chances * logs).sum(axis=1))


def _allowed(ids: Ids, workers: Sequence[Any] | str) -> NDArray[np.intp]:
    """Codes of the workers who may be asked."""
    if isinstance(workers, str):
        if workers != "all":
            raise InvalidInput(f"workers must be 'all', 'average' or a list of ids, got {workers!r}")
        return np.arange(len(ids))
    wanted = np.empty(len(workers), dtype=object)
    wanted[:] = list(workers)
    if len(wanted) == 0:
        raise InvalidInput("workers is empty; name those who may be asked, or use 'all' or 'average'")
    codes = exact_positions(ids.astype(object), wanted)
    if (codes < 0).any():
        raise InvalidInput(
            f"workers: {listed(wanted[codes < 0])} labelled nothing, so their skill is not known"
        )
    return np.unique(codes).astype(np.intp)


def _first_free(labels: LabelTable, tasks: NDArray[np.intp], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each task the first worker of `order` who has not labelled it; -1 where all have."""
    workers = len(labels.worker_ids)
    taken = labels.task.astype(np.int64) * workers + labels.worker  # sorted, as the labels are
    chosen = np.full(len(tasks), -1, dtype=np.intp)
    waiting = np.arange(len(tasks))
    for worker in order:
        pair = tasks[waiting].astype(np.int64) * workers + worker
        at = np.minimum(np.searchsorted(taken, pair), len(taken) - 1)
        busy = taken[at] == pair
        chosen[waiting[~busy]] = worker
        waiting = waiting[busy]
        if len(waiting) == 0:
            break
    return chosen
