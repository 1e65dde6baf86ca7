"""Findings on the input, whatever the answer: rows left out, classes that are probably not meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import nearest
from optiframe.findings import Finding
from optiframe.tables.ids import Ids, listed
from optiframe_rankone.data import Crowd, Repeats
from optiframe_rankone.ids import about, counts_of

_FEW = 3
_IN_SO_MANY = 10_000
"""A class is rare up to 3 labels, or one label in 10,000: how often one person mistypes a word."""
_TIMES = 20
"""Every other class must have so many times the labels of a rare one: where there are many small
classes, a small one is nothing strange."""


def left_out(crowd: Crowd) -> Iterator[Finding]:
    """Rows that were merged or left out, and tables about tasks or workers without labels."""
    yield from crowd.labels.remarks
    if crowd.labels.repeats is not None:
        yield from repeats(crowd.labels.repeats)
    for name, alike in crowd.labels.look_alike.items():
        yield Finding(
            "warning",
            f"{len(alike)} {name} {'id occurs' if len(alike) == 1 else 'ids occur'} both as text and as "
            f"another type that prints the same, such as {alike[0]!r} and {alike[0]}: each form counts as a "
            f"{name} of its own; write each id in one way: {listed(alike)}",
            alike,
            identifier="labels.look-alike-ids",
        )
    for name, known in (("truth", crowd.truth), ("gold", crowd.gold)):
        if known is not None:
            yield from about(
                "note",
                "task",
                known.ignored,
                f"in the {name} without any label; ignored",
                identifier="labels.known-task-without-labels",
            )
    if crowd.skills is not None:
        yield from about(
            "note",
            "worker",
            crowd.skills.ignored,
            "in the skills without any label; ignored",
            identifier="labels.known-worker-without-labels",
        )


def repeats(done: Repeats) -> Iterator[Finding]:
    """What was done about rows that repeat a task and worker."""
    pairs = f"{done.pairs} pair{'' if done.pairs == 1 else 's'} of task and worker"
    how = {
        "first": "the first row counts",
        "last": "the last row counts",
        "majority": "the label most of the rows give counts",
    }.get(done.policy, "rows that agree count once")
    if done.pairs == 1:
        rows = "which disagree" if done.disagreeing else "which agree"
    else:
        rows = f"in {done.disagreeing} of them rows that disagree" if done.disagreeing else "which all agree"
    text = f"{pairs} with several rows, {rows}: {how}"
    if not done.left_out:
        yield Finding("warning" if done.disagreeing else "note", text, identifier="labels.repeated-rows")
        return
    shown = listed([f"{task} by {worker}" for task, worker in done.left_out])
    text += f"; {len(done.left_out)} left out, since nothing says which row is right: {shown}"
    yield Finding("warning", text, done.left_out, identifier="labels.repeated-rows")
    for what, lost in (("task", done.tasks), ("worker", done.workers)):
        if lost:
            ids = np.empty(len(lost), dtype=object)
            ids[:] = lost
            yield from about(
                "warning",
                what,
                ids,
                "without any label left, so not in the answer",
                identifier="labels.no-label-left",
            )


def consensus(crowd: Crowd) -> Iterator[Finding]:
    """Labels that cannot contradict each other: of one worker, or of workers who never disagree."""
    labels = crowd.labels
    if len(labels.worker_ids) == 1:
        yield from about(
            "warning",
            "worker",
            labels.worker_ids,
            "for all tasks: the answer repeats the labels",
            identifier="labels.single-worker",
        )
        return
    met = labels.task[1:] == labels.task[:-1]
    codes = crowd.label_codes
    if not met.any():
        yield Finding(
            "warning",
            "no task has two labels: the answer repeats the labels, and nothing checks them; collect more "
            "labels for each task",
            identifier="labels.no-shared-task",
        )
    elif not (met & (codes[1:] != codes[:-1])).any():
        yield Finding(
            "warning",
            "no two workers disagree on any task: they are taken to be right, but may all be wrong in the "
            "same way; check some tasks by hand, or give known labels (`gold`)",
            identifier="labels.no-disagreement",
        )


def classes(crowd: Crowd) -> Iterator[Finding]:
    """Classes that may be slips: written in several ways, or hardly ever given; true ones never given.

    A class too many changes every answer, since chances to be wrong are shared between the classes.
    """
    count = counts_of(crowd.label_codes, len(crowd.classes))
    alike = _written_differently(crowd.classes)
    if alike:
        yield _in_several_ways(crowd.classes, count, alike)
    yield from _rare(crowd, count, [code for codes in alike for code in codes])
    yield from _only_gold(crowd.classes[count == 0])
    yield from _only_true(crowd)


def _written_differently(ids: Ids) -> list[list[int]]:
    """Codes of classes that differ only in capitals or blanks, those of one word together."""
    if ids.dtype.kind not in "OU":
        return []
    forms: defaultdict[str, list[int]] = defaultdict(list)
    for code, label in enumerate(ids.tolist()):
        if isinstance(label, str):
            forms["".join(label.casefold().split())].append(code)
    return [codes for codes in forms.values() if len(codes) > 1]


def _in_several_ways(ids: Ids, count: NDArray[np.int64], alike: list[list[int]]) -> Finding:
    said = [" and ".join(f"{ids[code]!r} ({count[code]})" for code in codes) for codes in alike]
    return Finding(
        "warning",
        "classes that differ only in capitals or blanks are taken for different ones; write each in one way "
        f"(labels in brackets): {listed(said)}",
        tuple(ids[code] for codes in alike for code in codes),
        identifier="labels.class-in-several-spellings",
    )


def _rare(crowd: Crowd, count: NDArray[np.int64], said: list[int]) -> Iterator[Finding]:
    """Classes given hardly ever, beside others that are all given often; and never by two for one task.

    Not those of which something else was `said`.
    """
    labels, codes, ids = crowd.labels, crowd.label_codes, crowd.classes
    rare = (count > 0) & (count <= max(_FEW, len(labels) // _IN_SO_MANY))
    common = count[~rare & (count > 0)]
    if not rare.any() or not len(common) or common.min() < _TIMES * count[rare].max():
        return
    rows = np.flatnonzero(rare[codes])
    task, code = labels.task[rows].astype(np.int64), codes[rows].astype(np.int64)
    place, times = np.unique(task * len(ids) + code, return_counts=True)
    rare[place[times > 1] % len(ids)] = False  # two workers saw it in one task: no slip
    rare[said] = False
    for one in np.flatnonzero(rare).tolist():
        here = rows[code == one]
        who = labels.worker_ids[np.unique(labels.worker[here])]
        where = labels.task_ids[np.unique(labels.task[here])]
        often = "only once" if count[one] == 1 else f"only {count[one]} times"
        others = [label for label in ids[count > count[one]].tolist() if isinstance(label, str)]
        meant = nearest(ids[one], others) if isinstance(ids[one], str) else ""
        yield Finding(
            "warning",
            f"the class {ids[one]!r} was given {often} in {len(labels)} labels (by {listed(who)}, for "
            f"{listed(where)}); if it is a slip, fix it: an extra class changes every answer{meant}",
            (ids[one],),
            identifier="labels.rare-class",
        )


def _only_gold(added: Ids) -> Iterator[Finding]:
    """Classes that the gold adds to those that workers gave."""
    if len(added):
        yield Finding(
            "note",
            f"{len(added)} class{'' if len(added) == 1 else 'es'} that no worker gave, added by the gold: "
            f"{listed(added)}; if it is a slip, fix the gold: a class too many changes every answer",
            tuple(added.tolist()),
            identifier="labels.class-of-gold-only",
        )


def _only_true(crowd: Crowd) -> Iterator[Finding]:
    """True labels that are no class, and so missed by every answer."""
    known, ids, first = crowd.truth_codes, crowd.true_classes, len(crowd.classes)
    missed = np.flatnonzero(known >= first)
    if not len(missed):
        return
    said = []
    for code in range(first, len(ids)):
        tasks = crowd.labels.task_ids[known == code]
        said.append(f"{ids[code]} ({listed(tasks)})")
    number = "1 true label was" if len(said) == 1 else f"{len(said)} true labels were"
    yield Finding(
        "warning",
        f"{number} never given by a worker: {listed(said)}; no answer can be right for these tasks, and the "
        "metrics count them as wrong. Check the spelling of the truth",
        tuple(crowd.labels.task_ids[missed].tolist()),
        identifier="labels.true-label-never-given",
    )
