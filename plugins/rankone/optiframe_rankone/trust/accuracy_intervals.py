"""How well the workers' skills are known, from the posteriors of an answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.data import Crowd


class Evidence(NamedTuple):
    """What the posteriors say of each worker, as if these labels had been checked; each of shape (workers,).

    Parameters
    ----------
    labels
        How many known labels tell as much as the worker's labels with their posteriors; 0: nothing.
    right
        How many of those are right.
    """

    labels: Array
    right: Array


def evidence(crowd: Crowd, solution: Aggregation) -> Evidence:
    """The worker's labels as a smaller number of labels whose truth is known.

    With q_i the posterior of the label the worker gave to task i and n of them, the accuracy is about
    p = sum q_i / n. Three things make it uncertain, and their variances are added:

    - which tasks the worker met: p(1 - p)/n, p no nearer to 0 and 1 than Jeffreys' .5/(n + 1);
    - the truth of each of them: sum q_i (1 - q_i) / n^2;
    - posteriors that are wrong together, since a crowd confuses the same classes on many tasks: D^2/12 with
      D = mean (1 - largest posterior) the doubt of these tasks' answers, as if the accuracy were off by
      anything between -D/2 and D/2.

    p(1 - p) over this variance is the number of known labels, at most n. Labels of tasks that nobody else
    labelled and gold does not know are left out: an answer repeats what they say.
    """
    labels, workers = crowd.labels, len(crowd.labels.worker_ids)
    checked = (labels.per_task > 1) | (crowd.gold_codes >= 0)
    told = labels.weighted(checked[labels.task].astype(np.float64))
    posterior = solution.probabilities
    given = posterior[labels.task, crowd.label_codes]
    doubt = (1.0 - solution.confidence)[labels.task]

    def mean(values: Array) -> Array:
        total = np.bincount(labels.worker, weights=told * values, minlength=workers)
        return np.asarray(total / np.maximum(count, 1.0))

    count = np.bincount(labels.worker, weights=told, minlength=workers)
    p = mean(given)
    least = 0.5 / (count + 1.0)
    apart = np.clip(p, least, 1.0 - least)
    spread = apart * (1.0 - apart)
    variance = (spread + mean(given * (1.0 - given))) / np.maximum(count, 1.0) + mean(doubt) ** 2 / 12.0
    known = np.where(count > 0, np.minimum(spread / variance, count), 0.0)
    return Evidence(known, np.minimum(p, 1.0) * known)


def posterior_intervals(
    crowd: Crowd, solution: Aggregation, level: float, found: Evidence | None = None
) -> tuple[Array, Array]:
    """Lower and upper end of an interval for each worker's skill, each of shape (workers,).

    Those of Clopper and Pearson for the accuracy, by `evidence`: of n right labels none shows that a
    worker never errs. Wide enough to hold the answer's own skill where that is estimated in another way;
    the whole range where nothing tells. ``found`` is the `evidence` where it is at hand.

    Raises
    ------
    InvalidInput
        When the level is not between 0 and 1.
    """
    check_level(level)
    known, right = evidence(crowd, solution) if found is None else found
    outside = (1.0 - level) / 2.0
    # Parameters of 0 would be nan: nobody is right, or wrong, and the end is that of the range.
    low = np.where(right > 0, betaincinv(np.maximum(right, 1e-9), known - right + 1.0, outside), 0.0)
    wrong = known - right
    high = np.where(wrong > 0, betaincinv(right + 1.0, np.maximum(wrong, 1e-9), 1.0 - outside), 1.0)
    least = -1.0 / (len(crowd.classes) - 1)
    low, high = (end + (1.0 - end) * least for end in (low, high))
    if solution.skills is not None:
        low, high = np.minimum(low, solution.skills), np.maximum(high, solution.skills)
    return np.maximum(low, least), np.minimum(high, 1.0)


def check_level(level: float) -> None:
    """Raise `InvalidInput` unless this can be the coverage of an interval."""
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must be between 0 and 1, got {level}")


def posterior_errors(crowd: Crowd, solution: Aggregation) -> Array:
    """Standard error of each worker's skill by `evidence`, shape (workers,); inf where it says nothing."""
    known, right = evidence(crowd, solution)
    classes = len(crowd.classes)
    least = 0.5 / (known + 1.0)
    p = np.clip(np.divide(right, known, out=np.zeros_like(known), where=known > 0), least, 1.0 - least)
    infinite = np.full(len(known), np.inf)
    errors = np.sqrt(np.divide(p * (1.0 - p), known, out=infinite, where=known > 0))
    return np.asarray(classes / (classes - 1.0) * errors)


def guessing_chance(found: Evidence, classes: int) -> Array:
    """How likely someone who guesses is right so seldom, shape (workers,)."""
    wrong = np.maximum(found.labels - found.right, 1e-9)
    return np.asarray(1.0 - betainc(found.right + 1.0, wrong, 1.0 / classes))
