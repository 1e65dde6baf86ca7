"""Groups of workers who agree far more often than their labels explain, though not on everything.

Colluders who are right on most tasks agree on a wrong label for the others. No single label shows it, and to
most methods they look good, since agreement is what skills follow from. But what the others say of them, with
the group left out, explains less agreement than there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.records.fields import Array
from optiframe.tables.ids import listed
from optiframe_rankone.answer import accuracy
from optiframe_rankone.completion.skill_model import SkillModel
from optiframe_rankone.read.copies import BEYOND, SHARED, Agreement, Workers, agreements

_EXCESS = 1 / 3
"""Share of the disagreements to expect that must be missing. Many shared tasks make small departures from the
model certain: two workers of s4_relevance agree on 58% of 960 tasks for 40%, .30 by this measure."""
_SURPRISE = 5.0
"""Standard deviations above a product of skills from which a pair is looked at more closely. What all workers
have in common, such as hard tasks, is in these skills, so that few pairs of real sets exceed it."""
_TESTS = 5  # groups that are looked at, the most surprising first: each takes 20 passes over the labels
_CLASSES = 500  # at most, as for copies


def colluding(model: SkillModel, copies: Sequence[Workers] = ()) -> Iterator[Finding]:
    """Groups of workers who agree far more often than their accuracy explains, but for the `copies`."""
    labels, ids = model.crowd.labels, model.crowd.labels.worker_ids
    groups = _groups(model, copies) if 2 <= len(labels.label_ids) <= _CLASSES else []
    if not groups:
        return
    members = [np.unique([code for pair in pairs for code in (pair.one, pair.other)]) for pairs in groups]
    said = []
    for group, pairs in zip(members, groups, strict=True):
        tasks = sum(pair.tasks for pair in pairs)
        share, expected = (
            sum(each) / tasks for each in zip(*((pair.agreed, pair.expected) for pair in pairs), strict=True)
        )
        agree = f"on {percent(share)} of the tasks they share, {percent(expected)} expected"
        said.append(f"{listed(ids[group])} ({agree})")
    found = np.concatenate(members)
    yield Finding(
        "warning",
        f"{len(found)} workers may collude or share a source of errors: they agree far more often than "
        f"their accuracy, as the others see it, explains: {'; '.join(said)}. Most methods take agreement for "
        "skill, and the answer may follow these workers. Check by hand some tasks on which they contradict "
        "the others; then give known labels (`gold`), or leave these workers out",
        tuple(ids[found].tolist()),
        identifier="labels.colluding-workers",
    )


def _groups(model: SkillModel, copies: Sequence[Workers]) -> list[list[Agreement]]:
    """Pairs that agree too often, group by group.

    The most surprising pair is looked at first, together with those whose agreement with both is surprising,
    too; who is found leaves the crowd before the next is looked for, as colluders distort what is expected
    of the others.
    """
    shared, correlation = model.pair_counts()
    rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    columns, classes = shared.indices, len(model.crowd.classes)
    heard = np.ones(shared.shape[0], dtype=bool)
    for group in copies:
        heard[group] = False
    seen, found = np.zeros(shared.nnz, dtype=bool), []
    for _ in range(_TESTS):
        weight = np.where(heard[rows] & heard[columns], shared.data, 0.0)
        surprise = _surprise(rows, columns, weight, correlation, classes)
        open_ = np.flatnonzero(~seen & (surprise >= _SURPRISE))
        if not len(open_):
            break
        k = int(open_[surprise[open_].argmax()])
        near = surprise > surprise[k] / 2
        ends = rows[k], columns[k]
        one, other = (columns[(rows == end) & near] for end in ends)
        group = np.union1d(ends, np.intersect1d(one, other)).astype(np.int64)
        seen |= np.isin(rows, group) & np.isin(columns, group)
        outside = heard.copy()
        outside[group] = False
        pairs = [pair for pair in agreements(model.crowd.labels, group, outside) if _too_often(pair)]
        if pairs:
            found.append(pairs)
            heard[[code for pair in pairs for code in (pair.one, pair.other)]] = False
    return found


def _too_often(pair: Agreement) -> bool:
    return pair.beyond > BEYOND and pair.agreed - pair.expected >= _EXCESS * (pair.tasks - pair.expected)


def _surprise(
    rows: NDArray[np.intp], columns: NDArray[np.int32], weight: Array, correlation: Array, classes: int
) -> Array:
    """By how many standard deviations pairs agree more often than a product of skills says, shape (pairs,).

    The skill of a worker is the mean correlation with everybody but the other of the pair, over the root
    of the mean of all correlations. -inf where a pair shares fewer than 30 tasks.
    """
    size = int(max(rows.max(initial=0), columns.max(initial=0))) + 1
    sums, counts = np.bincount(rows, weight * correlation, size), np.bincount(rows, weight, size)
    mean = sums.sum() / max(counts.sum(), 1.0)
    if mean <= 0:
        return np.full(len(weight), -np.inf)
    one, other = (
        np.divide(total, count, out=np.zeros_like(weight), where=count > 0)
        for total, count in (
            (sums[rows] - weight * correlation, counts[rows] - weight),
            (sums[columns] - weight * correlation, counts[columns] - weight),
        )
    )
    expected = accuracy(np.clip(one * other / mean, 0.0, 1.0), classes)
    chance = np.clip(expected, 0.02, 0.98)
    deviation = np.sqrt(chance * (1.0 - chance) / np.maximum(weight, 1.0))
    return np.where(weight >= SHARED, (accuracy(correlation, classes) - expected) / deviation, -np.inf)
