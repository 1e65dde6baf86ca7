"""Single labels that alone join two groups of workers: the bridges of the label graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

from optiframe.findings import Finding
from optiframe.tables.ids import listed
from optiframe_rankone.data import Crowd, LabelTable

_SHOWN = 3  # of the bridges, with the groups they join
_LABELS = 200_000  # up to so many bridges are looked for with every answer: some 30 ms

Codes = NDArray[np.int64]


def joined_by_one_label(crowd: Crowd, oriented: bool) -> Iterator[Finding]:
    """Groups of two workers or more who share tasks with the others through one label only.

    ``oriented`` says whether the method knows skills up to sign, so that the label also decides who is right.
    """
    labels = crowd.labels
    if len(labels) > _LABELS or not len(rows := bridges(labels)):
        return
    sides = [_smaller_side(labels, row) for row in rows[:_SHOWN].tolist()]
    said = [
        f"{labels.worker_ids[labels.worker[row]]} on {labels.task_ids[labels.task[row]]} "
        f"(joins {listed(labels.worker_ids[side])})"
        for row, side in zip(rows.tolist(), sides, strict=False)
    ]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    side = ", and which side is right where they disagree," if oriented else ""
    yield Finding(
        "warning",
        f"a single label connects a group of workers to the others ({len(rows)} labels in all): how their "
        f"skills compare{side} rests on that label alone. Collect a few more tasks in common. The labels: "
        f"{'; '.join(said)}{more}",
        tuple(labels.worker_ids[np.unique(np.concatenate(sides))].tolist()),
        identifier="labels.groups-joined-by-one-label",
    )


def bridges(labels: LabelTable) -> Codes:
    """Rows of the labels without which two groups of at least two workers would share no task.

    Of labels in a row that part the same workers, one.

    Notes
    -----
    Labels are edges between workers and tasks. Each edge off a spanning tree gets a random mark of 64 bits,
    and each edge of the tree the exclusive or of those that close a cycle with it: 0 for a bridge, which is
    on no cycle, and for others with chance 2^-64. Marks and numbers of workers are gathered from
    the leaves up, so time and memory are linear in the labels.
    """
    workers, size = len(labels.worker_ids), len(labels.worker_ids) + len(labels.task_ids)
    worker, task = labels.worker.astype(np.int64), workers + labels.task.astype(np.int64)
    parent, depth, root = _spanning_forest(_graph(labels, np.ones(len(labels))))
    low = np.where(parent[task] == worker, task, np.where(parent[worker] == task, worker, -1))
    off = low < 0  # the edges off the tree; `low` is the lower end of the others
    drawn = np.random.default_rng(0).integers(1, 2**63, size=int(off.sum()), dtype=np.uint64)
    mark, below = np.zeros(size, dtype=np.uint64), (np.arange(size) < workers).astype(np.int64)
    np.bitwise_xor.at(mark, worker[off], drawn)
    np.bitwise_xor.at(mark, task[off], drawn)
    for level in range(int(depth.max()), 0, -1):
        nodes = np.flatnonzero(depth == level)
        np.bitwise_xor.at(mark, parent[nodes], mark[nodes])
        np.add.at(below, parent[nodes], below[nodes])
    parts = (parent >= 0) & (mark == 0) & (np.minimum(below, below[root] - below) > 1)
    nodes = np.flatnonzero(parts)
    again = nodes[parts[parent[nodes]] & (below[parent[nodes]] == below[nodes])]
    parts[parent[again]] = False
    return np.flatnonzero(~off & parts[low])


def _graph(labels: LabelTable, weight: NDArray[np.float64]) -> sp.csr_array:
    """Workers, then tasks, joined by the labels."""
    workers, size = len(labels.worker_ids), len(labels.worker_ids) + len(labels.task_ids)
    ends = labels.worker.astype(np.int64), workers + labels.task.astype(np.int64)
    return sp.csr_array((weight, ends), shape=(size, size))


def _spanning_forest(graph: sp.csr_array) -> tuple[Codes, Codes, Codes]:
    """Parent of each node, -1 at a root; depth; root."""
    component = connected_components(graph, directed=False)[1]
    roots = np.unique(component, return_index=True)[1]
    parent, depth = np.full(len(component), -1), np.zeros(len(component), dtype=np.int64)
    for root in roots.tolist():
        order, before = breadth_first_order(graph, root, directed=False)
        parent[order[1:]] = before[order[1:]]
        for node, above in zip(order[1:].tolist(), before[order[1:]].tolist(), strict=True):
            depth[node] = depth[above] + 1
    return parent, depth, roots[component]


def _smaller_side(labels: LabelTable, row: int) -> Codes:
    """Workers of the smaller group that a label joins to the rest of its component."""
    weight = np.ones(len(labels))
    weight[row] = 0.0
    graph = _graph(labels, weight)
    graph.eliminate_zeros()
    component = connected_components(graph, directed=False)[1]
    workers = len(labels.worker_ids)
    ends = component[labels.worker[row]], component[workers + labels.task[row]]
    sides = [np.flatnonzero(component[:workers] == end) for end in ends]
    return min(sides, key=len)
