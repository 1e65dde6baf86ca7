"""Findings for methods that know skills up to sign: what settles who is right, and how firmly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.records.fields import Array
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation, over_classes
from optiframe_rankone.completion.skill_model import SkillModel
from optiframe_rankone.data import Crowd
from optiframe_rankone.ids import about

_FAR = 1 / 3
"""Share of tasks on which an answer may differ from the majority vote. Six adversaries in twenty workers make
.28 of it; answers that are turned over differ on .4 and more (examples/bench/labels_hostile.py)."""
_TASKS = 30  # fewer say too little of a share
_KNOWN = 5
"""Known answers from which the gold may be relied on: on rte and dogs a right answer to one task that most
workers got wrong reversed all the others; on the five shipped sets five of which one was wrong never did (6
draws each)."""


def signs(model: SkillModel, *splits: Array) -> Iterator[Finding]:
    """What settles who is right, in each group of workers who share tasks.

    ``splits`` are the skills, or those of each binary problem, each of shape (workers,).
    """
    graph, ids = model.worker_graph, model.crowd.labels.worker_ids
    asked = np.zeros(graph.components, dtype=bool)
    if model.crowd.gold is not None:
        asked = graph.sums(np.abs(model.crowd.gold_agreement)) > 0
    if not asked.all():
        by_labels = "of skills, each times the worker's number of labels,"
        summed = by_labels if model.orientation == "labels" else "of the skills"
        where = "" if graph.components == 1 else " in each group of workers who share tasks, separately"
        but = ", but where gold says" if asked.any() else ""
        yield Finding(
            "note",
            "agreement does not show which side is right: by convention it is the one for which the sum "
            f"{summed} is positive{where}{but}; give a few known labels (`gold`) to settle it",
            identifier="labels.sign-by-convention",
        )
    yield from contested(model, splits, ~asked)
    below = np.any([graph.sums(model.sign_weights * values) < 0 for values in splits], axis=0)
    against = (asked & below)[graph.component]
    labels = model.crowd.labels
    told = len(np.unique(labels.task[against[labels.worker] & (model.crowd.gold_codes[labels.task] >= 0)]))
    few = f", too few to rely on; give at least {_KNOWN}" if told < _KNOWN else ""
    yield from about(
        "warning",
        "worker",
        ids[against],
        f"in a group that is mostly wrong, according to the gold ({told} known "
        f"answer{'' if told == 1 else 's'}{few}): the skills there sum to less than 0",
        identifier="labels.group-against-gold",
    )


def contested(
    model: SkillModel, splits: Sequence[Array], by_convention: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Groups in which counting labels and counting workers say the opposite of who is right.

    The workers named are those of the first such split. ``by_convention`` marks the components
    that no gold settles, shape (components,).
    """
    graph, counts = model.worker_graph, model.crowd.labels.per_worker
    found = []
    for values in splits:
        opposed = graph.sums(counts * values) * graph.sums(values) < 0
        here = (by_convention & opposed)[graph.component]
        if here.any():
            found.append((here & (values > 0), here & (values < 0)))
    if not found:
        return
    right, wrong = found[0]
    where = ""
    if len(splits) > 1:
        where = f" in {len(found)} of {len(splits)} splits of the classes, described for the first of these"
    sides = [
        f"{side.sum()} worker{'' if side.sum() == 1 else 's'} with {counts[side].sum()} labels"
        for side in (right, wrong)
    ]
    ids = model.crowd.labels.worker_ids[right]
    if model.orientation == "labels":
        why = "skills are weighted by numbers of labels"
        otherwise = 'all skills counted the same (orientation = "workers")'
    else:
        why = "all skills count the same"
        otherwise = 'skills were weighted by numbers of labels (orientation = "labels")'
    yield Finding(
        "warning",
        f"who is right depends on a convention{where}: {sides[0]} count as right and {sides[1]} as wrong, "
        f"because {why}. If {otherwise}, right and wrong would be exchanged. Give a few known labels "
        f"(`gold`) to settle it. This would reverse the votes of {listed(ids)}",
        tuple(ids.tolist()),
        identifier="labels.contested-sign",
    )


def far_from_majority(crowd: Crowd, solution: Aggregation) -> Iterator[Finding]:
    """That an answer contradicts the majority vote on many tasks, which only hostile crowds explain."""
    asked = (crowd.gold_codes < 0) & over_classes(np.logical_or, solution.winners)
    if asked.sum() < _TASKS:
        return
    votes = crowd.votes(np.ones(len(crowd.labels.worker_ids)))
    majority = votes == over_classes(np.maximum, votes)[:, None]
    alike = over_classes(np.logical_or, majority & solution.winners)
    differs = float((asked & ~alike).sum() / asked.sum())
    if differs > _FAR:
        yield Finding(
            "warning",
            f"the answer differs from the majority vote on {percent(differs)} of the tasks. Either many "
            "workers are wrong more often than right, or this method has reversed right and wrong, as some "
            "do with clickers, copiers or few labels for each task. Solve with labels.majority and check by "
            "hand some tasks on which the two differ, or give known labels (`gold`)",
            identifier="labels.far-from-majority",
        )
