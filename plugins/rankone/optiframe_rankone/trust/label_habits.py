"""Findings on how workers label, whatever the answer: copies, one label only, measured numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.tables.ids import Ids, listed
from optiframe_rankone.answer import accuracy
from optiframe_rankone.completion.skill_model import SkillModel
from optiframe_rankone.data import Crowd
from optiframe_rankone.read.copies import AGREEMENT, Workers, groups_of_copies

_RISK = 0.01  # chance that anybody at all is reported for giving one label only who labels like the others
_WRONGLY = 0.05  # expected share of those who are named, where a group of such workers is beyond doubt
_GLANCE = 2**17  # labels looked at first
_SCALE = 10
"""Numbers up to this many are a scale of classes, such as grades; more may be measurements."""
_PAIRS = 30  # neighbouring labels that differ, from which to tell whether they are near
_NEAR = 0.5  # of the mean squared difference of two numbers drawn at random; codes of classes have 1


def copies(model: SkillModel) -> list[Workers]:
    """Codes of the workers of each group who agree nearly always, more than their confusion rows explain."""
    shared, correlation = model.pair_counts()
    agreed = accuracy(correlation, len(model.crowd.classes)) * shared.data
    return groups_of_copies(model.crowd.labels, shared, np.rint(agreed))


def copied(crowd: Crowd, groups: Sequence[Workers]) -> Iterator[Finding]:
    """That groups of workers copy."""
    if not groups:
        return
    ids = crowd.labels.worker_ids
    who = [listed(ids[group]) for group in groups]
    members = np.concatenate(groups)
    yield Finding(
        "warning",
        f"{len(members)} workers may copy one another or share a source, and each copy counts as a vote: "
        f"they agree on at least {percent(AGREEMENT)} of the tasks they share, far more often than their "
        'accuracy explains. If they copy, set copies = "share", which gives each group one vote; if they are '
        f"good workers, do not. Groups: {'; '.join(who)}",
        tuple(ids[members].tolist()),
        identifier="labels.copied-labels",
    )


def one_label_only(crowd: Crowd) -> Iterator[Finding]:
    """Workers who gave every task the same label, and so contradict the others more often than is usual.

    Who was only given tasks of one class does not: a binomial test at the usual share of labels that
    contradict most others on their task, corrected for the number of workers. Where many give the same
    label, others contradict one another, too, and each alone is in doubt: they are also tested together,
    each task counting once, and named by the rule of Benjamini and Hochberg if that is beyond doubt.
    """
    labels, codes = crowd.labels, crowd.label_codes
    workers = len(labels.worker_ids)
    if workers == 1:
        return
    some = np.zeros(workers, dtype=codes.dtype)
    for rows in (slice(_GLANCE), slice(None)):  # of millions of labels, few show that nobody is such a worker
        worker, label = labels.worker[rows], codes[rows]
        some[worker] = label
        constant = np.bincount(worker, weights=label != some[worker], minlength=workers) == 0
        constant &= labels.per_worker > 1
        if not constant.any():
            return
    against, checked = _against_the_others(crowd, ~constant)
    others = ~constant[labels.worker]
    share = ((against & others).sum() + 1.0) / ((checked & others).sum() + 2.0)
    tasks, differing = (
        np.bincount(labels.worker, weights=rows, minlength=workers) for rows in (checked, against)
    )
    chance = betainc(np.maximum(differing, 1.0), tasks - differing + 1.0, share)  # of so many or more
    named = chance < _RISK / workers
    for code in np.unique(some[constant]):
        group = constant & (some == code) & (tasks > 0)
        of_group = group[labels.worker] & checked
        seen, differs = (len(np.unique(labels.task[rows])) for rows in (of_group, of_group & against))
        if differs and betainc(differs, seen - differs + 1.0, share) < _RISK / len(crowd.classes):
            members = np.flatnonzero(group)
            rising = members[np.argsort(chance[members])]
            passed = chance[rising] <= _WRONGLY * np.arange(1, len(rising) + 1) / len(rising)
            named[rising[: np.flatnonzero(passed).max(initial=-1) + 1]] = True
    found = np.flatnonzero(constant & (differing > 0) & named)
    said = [f"{labels.worker_ids[w]} ({crowd.classes[some[w]]}, {labels.per_worker[w]} times)" for w in found]
    if said:
        yield Finding(
            "warning",
            f"{len(said)} worker{'' if len(said) == 1 else 's'} gave every task the same label, where "
            "others gave other labels: their labels say nothing about the tasks. Where they are few, "
            "labels.crowd and labels.dawid-skene learn that from the labels; the majority and methods with "
            "one skill for each worker (rankone.*) count them as votes. Where they are many, leave them out: "
            f"{listed(said)}",
            tuple(labels.worker_ids[found].tolist()),
            identifier="labels.one-label-only",
        )


def _against_the_others(
    crowd: Crowd, heard: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether more others gave the task another label than gave this one; whether there are others.

    ``heard`` marks the workers who count as others, shape (workers,); the results have shape (labels,).
    """
    task, code = crowd.labels.task, crowd.label_codes
    votes = crowd.votes(heard.astype(np.float64))
    second, first = np.partition(votes, -2, axis=1)[:, -2:].T
    given, own = votes[task, code], crowd.labels.weighted(heard[crowd.labels.worker].astype(np.float64))
    rival = np.where(given == first[task], second[task], first[task])
    return given - own < rival, votes.sum(axis=1)[task] > own


def measured(crowd: Crowd) -> Iterator[Finding]:
    """Labels that are numbers on a continuous scale, which are no classes."""
    if len(crowd.labels.label_ids) <= _SCALE:
        return
    ids = _numbers(crowd.labels.label_ids)
    if ids is None:
        return
    fractions = bool((ids != np.rint(ids)).mean() > 0.5)
    if fractions or _near_where_they_differ(crowd, ids):
        example = np.sort(ids)[len(ids) // 2]
        yield Finding(
            "warning",
            f"the labels are {len(ids)} different numbers, such as {example:g}, and look measured "
            "or graded: every number counts as a class of its own, and near numbers are no more alike than "
            "others. Take the median of each task, or put the numbers into a few classes first",
            identifier="labels.measured-numbers",
        )


def _numbers(ids: Ids) -> Ids | None:
    """The ids as numbers, also where they are text, as decimals of a CSV file are; None if some are none."""
    if ids.dtype.kind in "iuf":
        return ids
    if ids.dtype.kind not in "OU":  # dates are no numbers, although NumPy would turn them into some
        return None
    try:
        values = np.array(ids.tolist(), dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return values if np.isfinite(values).all() else None


def _near_where_they_differ(crowd: Crowd, ids: Ids) -> bool:
    """Whether two labels of one task that differ are much nearer than numbers drawn at random."""
    labels = crowd.labels
    values = ids[labels.label].astype(np.float64)
    differ = (labels.task[1:] == labels.task[:-1]) & (labels.label[1:] != labels.label[:-1])
    if differ.sum() < _PAIRS:
        return False
    gap = np.diff(values)[differ]
    return bool(np.mean(gap**2) < _NEAR * 2.0 * values.var())
