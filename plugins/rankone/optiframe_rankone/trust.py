"""The trust report of label aggregation: whether the answer can be believed, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.problems import Finding
from optiframe.values import Array
from optiframe_rankone.aggregation import Aggregation
from optiframe_rankone.ids import Ids, listed
from optiframe_rankone.worker_graph import WorkerGraph


def ties(solution: Aggregation) -> Iterator[Finding]:
    """Tasks without a single winner."""
    tied = np.flatnonzero(solution.tied)
    if len(tied):
        all_equal = int(solution.winners[tied].all(axis=1).sum())
        blank = f", {all_equal} of them between all labels" if all_equal else ""
        yield _about(
            "note", "task", solution.task_ids[tied], f"tied{blank}; the answer names the tied labels"
        )


def ignored_truth(tasks: Ids | tuple[()]) -> Iterator[Finding]:
    """Truth rows of tasks that nobody labelled."""
    if len(tasks):
        yield _about("note", "task", np.asarray(tasks), "in the truth without any label; ignored")


def graph(workers: WorkerGraph, ids: Ids) -> Iterator[Finding]:
    """What the worker graph leaves open about the skills."""
    if workers.isolated.any():
        yield _about(
            "warning",
            "worker",
            ids[workers.isolated],
            "sharing no task with anyone: nothing to compare with, so the skill is assumed, not estimated",
        )
    sizes = np.bincount(workers.component)
    groups = np.flatnonzero(sizes > 1)
    if len(groups) > 1:
        largest = int(sizes.argmax())
        apart = np.flatnonzero((workers.component != largest) & ~workers.isolated)
        yield Finding(
            "warning",
            f"the workers fall into {len(groups)} groups that share no task; whether a group is right on the "
            f"whole is assumed for each by itself. Outside the largest group: {listed(ids[apart])}",
            tuple(ids[apart].tolist()),
        )
    if workers.bipartite.any():
        yield _about(
            "warning",
            "worker",
            ids[workers.bipartite],
            "in a bipartite group (no odd ring of workers who share tasks): only products of "
            "skills across its two sides are known, so the sizes of the skills depend on the start",
        )


def skills(
    values: Array, ids: Ids, labels: NDArray[np.int64], workers: WorkerGraph, tau: float
) -> Iterator[Finding]:
    """Workers without weight, workers whose labels count against, and groups without a sign."""
    few = (values == 0) & (labels <= tau**2)
    if few.any():
        yield _about(
            "note",
            "worker",
            ids[few],
            f"with at most {int(tau**2)} label{'s' if tau**2 >= 2 else ''}: too few for any skill, "
            "so without weight in the vote",
        )
    one = (labels == 1) & (values != 0)
    if one.any():
        yield _about("note", "worker", ids[one], "with a single label: the skill is hardly more than a guess")
    against = values < 0
    if against.any():
        yield _about(
            "warning",
            "worker",
            ids[against],
            "with negative skill: wrong more often than by guessing, so each label counts against itself",
        )
    if not values.any():
        yield Finding("error", "every skill is zero: the labels carry no information, and every task is tied")
    # A group left without any skill though its workers have labels enough: the signs cancelled.
    lost = (workers.sums(np.abs(values)) == 0)[workers.component] & ~few
    if lost.any():
        yield _about(
            "warning",
            "worker",
            ids[lost],
            "in a group that disagrees so evenly that nothing says which side is right; without weight",
        )


def _about(level: Literal["note", "warning", "error"], what: str, ids: Ids, rest: str) -> Finding:
    """`3 workers <rest>: a, b, c` with the ids attached."""
    count = f"{len(ids)} {what}{'' if len(ids) == 1 else 's'}"
    return Finding(level, f"{count} {rest}: {listed(ids)}", tuple(ids.tolist()))
