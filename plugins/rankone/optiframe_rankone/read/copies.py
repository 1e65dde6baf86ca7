"""Workers who copy one another, or a common source: who they are, and one vote for each group of them.

Two workers who are always right agree always, too. So agreement is compared with what the workers'
confusion rows explain, which are learnt from the labels of everybody outside the group: copies of a source
that is often wrong stand out, good workers do not. Where nobody else labelled the tasks, nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, listed, locked
from optiframe_rankone.data import LabelTable
from optiframe_rankone.ids import Codes, exact_positions, fixed_codes, without_unused
from optiframe_rankone.kernels.labels import sort_labels, vote
from optiframe_rankone.kernels.pairs import count_pairs

SHARED = 30  # tasks that a pair must share: five times fewer could not exceed chance by `BEYOND`
AGREEMENT = 0.98  # share of these on which a pair must agree; copies by hand contain slips
BEYOND = 6.0
"""Standard deviations above what is explained: one pair in 1e9 by chance, and crowds have up to 1e6 pairs."""
_CLASSES = 500  # at most: the rows of one worker then take 2 MB, and those of a group are held together
_STEPS = 20  # of EM; accuracies and rows then change in the third digit
_RIGHT, _WRONG = 4.0, 2.0  # labels that a worker is taken to have given besides, as in `labels.crowd`

Workers = NDArray[np.int64]


class Agreement(NamedTuple):
    """How often two workers, by their codes, agree on tasks that they share, and are expected to."""

    one: int
    other: int
    tasks: int
    agreed: float
    expected: float
    beyond: float  # of what is expected, in standard deviations


def groups_of_copies(labels: LabelTable, shared: sp.csr_array, agreed: Array) -> list[Workers]:
    """Codes of the workers of each group who agree more than their confusion rows explain.

    Parameters
    ----------
    labels
        The labels.
    shared
        Number of tasks that each pair of workers shares, shape (workers, workers).
    agreed
        On how many of these a pair agrees, in the order of ``shared.data``.

    Notes
    -----
    Linear in the pairs. Only where a pair shares 30 tasks and agrees on 98% of them, 20 passes over the
    labels follow for each group of such pairs. With more than 500 classes nobody is named.
    """
    alike = (shared.data >= SHARED) & (agreed >= AGREEMENT * shared.data)
    if not alike.any() or not 2 <= len(labels.label_ids) <= _CLASSES:
        return []
    first = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    suspects = _components(first[alike], shared.indices[alike], shared.shape[0])
    pairs = np.array([pair for group in suspects for pair in _unexplained(labels, group)], dtype=np.int64)
    return _components(pairs[:, 0], pairs[:, 1], shared.shape[0]) if len(pairs) else []


def share_votes(labels: LabelTable) -> LabelTable:
    """The labels, in which each group of copies has one label a task, under the name of its busiest member.

    It is the label that most of the group gave; where as many gave another, that of the named one.
    """
    workers = len(labels.worker_ids)
    start, column, met, agreed = count_pairs(labels.first, labels.worker, labels.label, workers)
    groups = groups_of_copies(labels, sp.csr_array((met, column, start), shape=(workers, workers)), agreed)
    if not groups:
        return labels
    leader = np.arange(workers)
    for group in groups:
        leader[group] = group[labels.per_worker[group].argmax()]
    groups_of_ids = (labels.worker_ids[group[np.argsort(group != leader[group])]] for group in groups)
    return replace(
        _one_vote(labels, leader),
        merged=(*labels.merged, *groups_of_ids),
        remarks=(*labels.remarks, *_merged(labels, groups, leader)),
    )


def share_as_before(labels: LabelTable, merged: tuple[Ids, ...]) -> LabelTable:
    """Labels of other tasks, in which each group of workers has one label a task as in an earlier table.

    ``merged`` has the ids of each group, first the one under whose name it votes, there or not.
    """
    ids, leader = labels.worker_ids.astype(object), np.arange(len(labels.worker_ids))
    for group in merged:
        place = exact_positions(labels.worker_ids, group)
        place = place[place >= 0]
        if len(place):
            leader[place], ids[place[0]] = place[0], group[0]
    return _one_vote(replace(labels, worker_ids=ids), leader) if merged else labels


def _one_vote(labels: LabelTable, leader: Workers) -> LabelTable:
    """The labels, in which the workers of a leader have one label a task; ``leader`` has shape (workers,)."""
    workers, classes = len(labels.worker_ids), len(labels.label_ids)
    named = leader[labels.worker]
    cell = (labels.task.astype(np.int64) * workers + named) * classes + labels.label
    each, place = np.unique(cell, return_inverse=True)
    votes = np.bincount(place, weights=labels.weighted(1.0 + 0.5 * (named == labels.worker)))
    best = np.lexsort((-votes, each // classes))
    best = best[np.unique(each[best] // classes, return_index=True)[1]]
    of_task, given = np.divmod(each[best], classes)
    task, worker = np.divmod(of_task, workers)
    codes = fixed_codes(task), fixed_codes(worker), fixed_codes(given)
    sizes = len(labels.task_ids), workers
    by_task, by_worker, by_label = sort_labels(*codes, *sizes)
    weight = None
    if labels.weight is not None:  # the mean of those who gave it
        mean = (np.bincount(place, weights=labels.weight) / np.bincount(place))[best]
        weight = mean[sort_labels(*codes[:2], np.arange(len(best), dtype=np.int32), *sizes)[2]]
    named_worker, worker_ids, _ = without_unused(by_worker, labels.worker_ids)
    named_label, label_ids, _ = without_unused(by_label, labels.label_ids)
    return replace(
        labels,
        task=by_task,
        worker=named_worker,
        label=named_label,
        weight=weight,
        worker_ids=locked(worker_ids),
        label_ids=locked(label_ids),
    )


def _merged(labels: LabelTable, groups: list[Workers], leader: Workers) -> Iterator[Finding]:
    ids = labels.worker_ids
    said = [f"{listed(ids[group])} as {ids[leader[group[0]]]}" for group in groups]
    yield Finding(
        "note",
        'with copies = "share", workers who agree far more often than their accuracy explains have one vote '
        f"together, under the name of one of them: {listed(said)}",
        tuple(ids[np.concatenate(groups)].tolist()),
        identifier="labels.copies-share-a-vote",
    )


def _components(first: Workers, second: Workers, workers: int) -> list[Workers]:
    """The connected groups of two workers or more."""
    joined = sp.csr_array((np.ones(len(first)), (first, second)), shape=(workers, workers))
    number, group = connected_components(joined, directed=False)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group, minlength=number))[:-1])
    return [each for each in members if len(each) > 1]


def _unexplained(labels: LabelTable, group: Workers) -> Iterator[tuple[int, int]]:
    """Pairs of a group that agree more often than their confusion rows explain."""
    outside = np.ones(len(labels.worker_ids), dtype=bool)
    outside[group] = False
    for pair in agreements(labels, group, outside):
        if pair.agreed >= AGREEMENT * pair.tasks and pair.beyond > BEYOND:
            yield pair.one, pair.other


def agreements(labels: LabelTable, group: Workers, outside: NDArray[np.bool_]) -> Iterator[Agreement]:
    """How often pairs of a group agree, and how often their confusion rows explain.

    Parameters
    ----------
    labels, group
        Pairs of these workers, codes, rising, who share 30 tasks that somebody outside labelled, too.
    outside
        Workers from whose labels the classes of tasks follow, shape (workers,); none of the group.
    """
    posterior = _posterior(labels, outside)
    known = np.zeros(len(labels.task_ids), dtype=bool)
    known[labels.task[outside[labels.worker]]] = True
    inside = np.zeros(len(outside), dtype=bool)
    inside[group] = True
    chosen = np.flatnonzero(inside[labels.worker] & known[labels.task])
    chosen = chosen[np.argsort(labels.worker[chosen], kind="stable")]
    ends = np.searchsorted(labels.worker[chosen], group), np.searchsorted(labels.worker[chosen], group + 1)
    said = [(labels.task[chosen[a:b]], labels.label[chosen[a:b]]) for a, b in zip(*ends, strict=True)]
    rows = [_confusion(posterior[task], label) for task, label in said]
    for one, other in combinations(range(len(group)), 2):
        tasks, here, there = np.intersect1d(
            said[one][0], said[other][0], assume_unique=True, return_indices=True
        )
        if len(tasks) < SHARED:
            continue
        agreed = float((said[one][1][here] == said[other][1][there]).sum())
        chance = posterior[tasks] @ (rows[one] * rows[other]).sum(axis=1)
        expected, variance = float(chance.sum()), float((chance * (1.0 - chance)).sum())
        codes = int(group[one]), int(group[other])
        yield Agreement(*codes, len(tasks), agreed, expected, (agreed - expected) / np.sqrt(variance))


def _posterior(labels: LabelTable, outside: NDArray[np.bool_]) -> Array:
    """Chances of the classes by the labels of some workers, shape (tasks, classes): one-coin EM."""
    classes, weight = len(labels.label_ids), outside.astype(np.float64)
    scores = vote(labels.first, labels.worker, labels.label, weight, classes)
    total = scores.sum(axis=1, keepdims=True)
    posterior: Array = np.divide(scores, total, out=np.full_like(scores, 1.0 / classes), where=total > 0)
    for _ in range(_STEPS):
        right = posterior[labels.task, labels.label]
        hits = np.bincount(labels.worker, weights=right, minlength=len(outside))
        accuracy = (hits + _RIGHT) / (labels.per_worker + _RIGHT + _WRONG)
        weight = np.where(outside, np.log((classes - 1) * accuracy / (1.0 - accuracy)), 0.0)
        scores = vote(labels.first, labels.worker, labels.label, weight, classes)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        posterior = powers / powers.sum(axis=1, keepdims=True)
    return posterior


def _confusion(posterior: Array, label: Codes) -> Array:
    """The likeliest confusion rows of one worker, shape (classes, labels), where classes are uncertain.

    Not the mean label where a class is likely, which would blame the worker for what others got wrong.
    """
    classes = posterior.shape[1]
    given = np.eye(classes)[label]
    rows = np.full((classes, classes), _WRONG / (_RIGHT + _WRONG) / (classes - 1))
    np.fill_diagonal(rows, _RIGHT / (_RIGHT + _WRONG))
    prior: Array = rows.copy()
    for _ in range(_STEPS):
        share = posterior * rows[:, label].T
        counts = (share / share.sum(axis=1, keepdims=True)).T @ given + prior
        rows = counts / counts.sum(axis=1, keepdims=True)
    return rows
