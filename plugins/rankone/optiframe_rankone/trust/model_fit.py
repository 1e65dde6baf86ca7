"""Whether one skill for each worker explains how often pairs of workers agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import betainc

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation, accuracy
from optiframe_rankone.completion.pairs import of_entries
from optiframe_rankone.completion.skill_model import SkillModel

LIMIT = 3.0
"""Standard deviations of the misfit above 0 beyond which the model is refused: a normal variable exceeds
3 in one of 740 cases. Where the model holds the misfit is mostly below 0, since the skills were fitted:
in 510 draws from it, of 17 designs, it was at most 0.9."""
_RISK = 0.05  # chance that any pair at all is reported for agreeing too often where none does
_MOST = 300
"""Workers who are looked at: those with the most labels, whose pairs share the most tasks and so tell most.
All pairs of 1,000 workers would take three times as long as the answer from a million labels."""
_SWEEPS, _MOVED = 20, 1e-3
"""Sweeps of coordinate descent at most, and the largest move at which they end: far below the skills' errors.
From an answer's skills it takes two to nine."""


@dataclass(frozen=True, eq=False)
class ModelFit:
    """How far the agreement of pairs of workers is from what one skill a worker explains.

    Parameters
    ----------
    misfit
        Excess of the squared gaps between correlations and products of skills over what chance makes
        them, summed over pairs that share two tasks or more, in standard deviations.
    ratio
        Mean of a squared gap over its variance: about 1, or less, where the model holds.
    pairs
        How many pairs share two tasks or more.
    together
        Pairs of workers who agree more often than their skills explain, codes of shape (found, 2).
    """

    misfit: float
    ratio: float
    pairs: int
    together: NDArray[np.int64]

    @property
    def holds(self) -> bool:
        """Whether the labels leave the model standing; also where they are too few to tell."""
        return self.misfit <= LIMIT


def model_fit(model: SkillModel, skills: Array) -> ModelFit:
    """How well one skill for each worker explains how pairs agree (Lemma 7), by weighted least squares.

    For workers i and j with n shared tasks the correlation C is the mean of n products of labels, each
    with expectation r = x_i x_j and variance v. The misfit is the sum over pairs of

        ((n (C - r))^2 - sum of the n squared gaps of one product) / (n v)

    over the root of the sum of 2 (1 - 1/n), its variance were the pairs independent. Taking the squares of
    single products off makes its expectation 0 at the true skills whatever v is, so that a wrong v, as for
    workers who hardly ever err, cannot raise it; pairs with one shared task say nothing and drop out. Pairs
    that share a worker are not independent, but what they share is nearly what fitting that worker's
    skill takes away.

    The skills are fitted here once more, from those given, with the shared tasks as weights and without the
    box: it is the model that is tested, not the method, nor what the box keeps from it.

    Of more than 300 workers those with the most labels are looked at, and their pairs counted for it.
    """
    kept, shared, correlation = _pairs_of_busiest(model)
    classes = len(model.crowd.classes)
    start = skills if skills.all() else np.where(skills == 0.0, model.completion.initial(), skills)
    x = _fitted(classes, shared, correlation, start[kept])  # from 0, a saddle, nobody would move
    first = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    once = (first < shared.indices) & (shared.data > 1)
    i, j, n, c = first[once], shared.indices[once], shared.data[once], correlation[once]
    if not len(n):
        return ModelFit(0.0, np.nan, 0, np.empty((0, 2), dtype=np.int64))
    r, agreed = x[i] * x[j], accuracy(c, classes)  # the share of agreement follows from C as p from a skill
    single = n * (agreed * (1.0 - r) ** 2 + (1.0 - agreed) * (1.0 / (classes - 1) + r) ** 2)
    # N labels never show that a worker is always right or always wrong: Jeffreys' estimate, as for errors.
    least = 0.5 / (model.crowd.labels.per_worker[kept] + 1.0)
    careful = (classes * np.clip(accuracy(x, classes), least, 1.0 - least) - 1.0) / (classes - 1)
    chance = accuracy(careful[i] * careful[j], classes)
    variance = (classes / (classes - 1.0)) ** 2 * chance * (1.0 - chance)
    squares = (n * (c - r)) ** 2
    excess = float(((squares - single) / (n * variance)).sum())
    times = np.maximum(np.rint(agreed * n), 1.0)
    above = np.flatnonzero(times > n * chance)  # else the binomial tail is a half or more
    above = above[betainc(times[above], (n - times + 1.0)[above], chance[above]) * len(n) < _RISK]
    return ModelFit(
        misfit=excess / float(np.sqrt((2.0 - 2.0 / n).sum())),
        ratio=float((squares / (n * variance)).mean()),
        pairs=len(n),
        together=np.column_stack([kept[i[above]], kept[j[above]]]),
    )


def intervals_hold(model: SkillModel, solution: Aggregation) -> bool:
    """Whether intervals of the skills, and confidences, can be relied on, as far as the labels tell.

    Those of votes that count labels by one skill a worker assume that one skill explains how workers agree;
    those of posteriors assume nothing of it.
    """
    return not solution.reverses or solution.skills is None or model_fit(model, solution.skills).holds


def _pairs_of_busiest(model: SkillModel) -> tuple[NDArray[np.int64], sp.csr_array, Array]:
    """The workers with the most labels, the tasks that they share, and their correlations in that order."""
    workers = len(model.crowd.labels.worker_ids)
    if workers <= _MOST:
        return np.arange(workers), *model.pair_counts()
    kept = np.sort(np.argsort(-model.crowd.labels.per_worker, kind="stable")[:_MOST])
    return kept, *model.pair_counts_of(kept)


def _fitted(classes: int, shared: sp.csr_array, correlation: Array, x: Array) -> Array:
    """Skills nearest to the correlations, within their range, from those given."""
    pattern = shared.indices, shared.indptr
    pairs = of_entries(shared, sp.csr_array((correlation, *pattern), shared.shape))
    lower, upper = np.full(len(x), -1.0 / (classes - 1)), np.ones(len(x))
    for _ in range(_SWEEPS):
        x, moved = pairs.sweep(x, lower, upper)
        if moved < _MOVED:
            break
    return x


def misfits(model: SkillModel, fit: ModelFit) -> Iterator[Finding]:
    """That one skill for each worker does not explain the labels, and what is then not to be relied on."""
    if fit.holds:
        return
    who = model.crowd.labels.worker_ids[np.unique(fit.together)]
    more = f". These workers agree more than their skills explain: {listed(who)}" if len(who) else ""
    yield Finding(
        "warning",
        "one skill for each worker does not explain how often workers agree. "
        "Intervals of skills and confidences assume that it does: they are not valid here, and nobody is "
        "called reliably wrong. Try labels.crowd, which does not assume it. Over "
        f"{fit.pairs} pairs of workers the squared gaps are {number(fit.ratio)} times what chance makes them "
        f"({number(fit.misfit)} standard deviations too many){more}",
        tuple(who.tolist()),
        identifier="labels.one-skill-does-not-fit",
    )


def unchecked() -> Finding:
    """That nobody looked whether one skill for each worker explains the labels."""
    return Finding(
        "note",
        "intervals and confidences assume that one skill for each worker explains how often workers agree. "
        "This was not tested for so many labels, because it would take longer than the answer; test a sample",
        identifier="labels.fit-not-checked",
    )
