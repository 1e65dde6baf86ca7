"""EM for confusion matrices in which workers borrow strength from one another and from the crowd.

With q the posteriors of the classes, y_ij the label of worker j on task i and n_j the number of his labels:

- N_j[k, l] is the sum of q_ik over his labels l; R_j, its trace, is his expected number of right labels.
- Abilities are Beta(a, b) over the workers, with a and b by empirical Bayes from R_j and n_j.
- The crowd's confusion P is the sum of N_j, the row of a worker counting at most s labels. It says how much
  harder a class is than the average, d_k in log-odds of being right, and on which labels errors fall, E_kl.
- A worker's row has a prior that counts s labels: his own ability moved by d_k, with the crowd's errors.

A task's posterior is the product of the chances that its labels have by these counts, times the class's
share. Where a label's own part of the counts is left out, no label confirms itself.

A label of weight w counts w times in N_j, R_j and n_j, and to the power of w in the product; its own part is
all of that, for repeating a label says no more of who is right.

A task with a single label says nothing of the worker who gave it, and many of them drown those that do: such
tasks take no part in the EM and are judged by its outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, logit

from optiframe.records.fields import Array
from optiframe_rankone.data import Crowd
from optiframe_rankone.kernels.posteriors import count_classes, pooled_posteriors
from optiframe_rankone.vote import first_vote

_ALONE = 1e6  # labels that a prior counts whose worker has no row of his own
_LEAST = 0.05  # of a and b
_PSEUDO = 20.0  # labels that what is common to all classes counts in the crowd's rows
_CLIP = 0.02  # a class's accuracy in the crowd stays this far from 0 and 1


@dataclass(frozen=True)
class Member:
    """One way to run the EM.

    Parameters
    ----------
    strength
        s, the number of labels that the prior of a worker's row counts; None for the one-coin model, in
        which a worker has one ability, no row of his own, and errors fall on all labels alike.
    shares
        Whether the fit estimates the classes' shares; else they are those given to it, or equal.
    without_own
        Whether a label's own part of the counts is left out.
    """

    strength: float | None
    shares: bool
    without_own: bool


@dataclass(frozen=True, eq=False)
class Workers:
    """What the EM says of the workers; M classes.

    Parameters
    ----------
    accuracy
        Expected chance of each of being right, between the share of his own labels and the crowd's, shape
        (workers,).
    confusion
        Chance of each label where the task has each class, shape (workers, classes, labels).
    shares
        Chance of each class before any label is seen, shape (classes,).
    """

    accuracy: Array
    confusion: Array
    shares: Array


class Fit:
    """The EM of one member on the labels of a crowd, from `first_vote`; gold is certain throughout.

    ``posterior``, shape (tasks, classes), is changed in place by `step`; tasks with one label have rows of
    zeros until `judge_single_labels`.

    Parameters
    ----------
    member
        How to run it.
    crowd
        The labels.
    expected
        Number of tasks expected in each class, shape (classes,), where the member does not estimate
        shares. None: equally many.
    """

    def __init__(self, member: Member, crowd: Crowd, expected: Array | None = None) -> None:
        self.member, self.crowd = member, crowd
        self._expected = np.empty(0) if expected is None else expected
        self._weight = np.empty(0) if crowd.labels.weight is None else crowd.labels.weight
        shares = first_vote(crowd).probabilities
        known = crowd.gold_codes >= 0
        shares[known] = np.eye(shares.shape[1])[crowd.gold_codes[known]]
        self._single = ~known & (crowd.labels.per_task < 2)
        shares[self._single] = 0.0
        self._known = known | self._single
        self.posterior: Array = shares
        self._a, self._b = 4.0, 2.0
        # Of each worker, those that count: each adds a row of the posterior, whose sum is 1 or 0.
        self._labels = self._counts().sum(axis=(1, 2))

    def step(self) -> float:
        """One step; the largest change of a posterior."""
        counts = self._counts()
        self._learn_abilities(np.einsum("jkk->j", counts))
        return self._judge(counts, self._known, self.member.without_own)

    def judge_single_labels(self) -> None:
        """Fill in the posteriors of tasks with one label, from what the others taught."""
        if self._single.any():
            # Their labels are in no count, so nothing is left out.
            self._judge(self._counts(), ~self._single, without_own=False)

    def _counts(self) -> Array:
        labels = self.crowd.labels
        chosen = labels.first, labels.worker, self.crowd.label_codes, self._weight
        return count_classes(*chosen, self.posterior, len(labels.worker_ids))

    def _judge(self, counts: Array, known: NDArray[np.bool_], without_own: bool) -> float:
        """New posteriors of the tasks that are not known; their largest change."""
        labels, member = self.crowd.labels, self.member
        classes = self.posterior.shape[1]
        strength, odds = member.strength or _ALONE, np.ones(classes)
        errors = np.full((classes, classes), 1.0 / (classes - 1))
        if member.strength is not None:
            odds, errors = _common(_pooled(counts, strength), self._a / (self._a + self._b))
        return pooled_posteriors(
            labels.first,
            labels.worker,
            self.crowd.label_codes,
            self._weight,
            known.astype(np.uint8),
            self.posterior,
            counts,
            (self._a, self._b),
            strength,
            odds,
            errors,
            self._tasks_by_class(),
            without_own,
        )

    def _tasks_by_class(self) -> Array:
        """Number of tasks taken to be in each class, shape (classes,); empty: equally many."""
        return self.posterior.sum(axis=0) if self.member.shares else self._expected

    def _learn_abilities(self, right: Array) -> None:
        """Two fixed-point steps for a and b (Minka 2000), with a weak prior that keeps them finite."""
        if not self._labels.any():
            return  # the prior alone would take everybody for a guesser
        wrong = self._labels - right
        for _ in range(2):
            a, b = self._a, self._b
            total = float(np.sum(digamma(self._labels + a + b) - digamma(a + b))) + 0.02
            self._a = max((a * float(np.sum(digamma(right + a) - digamma(a))) + 0.5) / total, _LEAST)
            self._b = max((b * float(np.sum(digamma(wrong + b) - digamma(b))) + 0.5) / total, _LEAST)

    def workers(self) -> Workers:
        """What the posteriors say of the workers."""
        counts = self._counts()
        strength = self.member.strength or _ALONE
        right = np.einsum("jkk->j", counts)
        accuracy = (self._a + right) / (self._a + self._b + self._labels)
        odds, errors = _common(_pooled(counts, strength), self._a / (self._a + self._b))
        lifted = accuracy[:, None] * odds
        own = lifted / (1.0 - accuracy[:, None] + lifted)
        rows = (1.0 - own)[:, :, None] * errors.T
        classes = np.arange(len(odds))
        rows[:, classes, classes] = own
        rows = strength * rows + counts.transpose(0, 2, 1)
        found = self._tasks_by_class()
        tasks = 1.0 + (found if found.size else np.zeros(len(odds)))
        return Workers(accuracy, rows / rows.sum(axis=2, keepdims=True), tasks / tasks.sum())


def _pooled(counts: Array, strength: float) -> Array:
    """The crowd's confusion P, shape (classes, labels): a worker's row counts at most `strength` labels."""
    share = strength / (strength + counts.sum(axis=1))
    return np.asarray(np.einsum("jk,jlk->kl", share, counts))


def _common(pooled: Array, average: float) -> tuple[Array, Array]:
    """exp(d_k), shape (classes,), and E_kl as (labels, classes), from P and the mean ability."""
    classes = len(pooled)
    diagonal, total = np.diagonal(pooled), pooled.sum(axis=1)
    mean = (diagonal.sum() + _PSEUDO * average) / (total.sum() + _PSEUDO)
    right = np.clip((diagonal + _PSEUDO * mean) / (total + _PSEUDO), _CLIP, 1.0 - _CLIP)
    wrong = (total - diagonal)[:, None] + _PSEUDO
    errors = (pooled + _PSEUDO / (classes - 1)) / wrong
    return np.exp(logit(right) - logit(mean)), np.ascontiguousarray(errors.T)
