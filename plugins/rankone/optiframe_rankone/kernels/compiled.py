"""Compiled twins of the passes over labels; imported for big inputs only (`passes.compiled_for`).

The first use on a machine compiles for about a second and keeps the result on disk. Loops are
written out, since that is what compiles well; what they compute is said by their twins in
`optiframe_rankone.completion.pairs`, and the tests hold them to the same numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes
from optiframe_rankone.kernels.compiling import compiled


@compiled
def label_pulls(  # noqa: PLR0917  # compiled code is called by position
    start: NDArray[np.int64],
    worker: Codes,
    label: Codes,
    x: Array,
    classes: int,
    agree: float,
    disagree: float,
) -> tuple[Array, Array]:
    """(N * C) x and N x^2 in one pass over the tasks."""
    pull, curvature = np.zeros(len(x)), np.zeros(len(x))
    votes = np.zeros(classes)
    for task in range(len(start) - 1):
        first, last = start[task], start[task + 1]
        total, squares = 0.0, 0.0
        for k in range(first, last):
            skill = x[worker[k]]
            votes[label[k]] += skill
            total += skill
            squares += skill * skill
        for k in range(first, last):
            i = worker[k]
            skill = x[i]
            pull[i] += agree * (votes[label[k]] - skill) - disagree * (total - skill)
            curvature[i] += squares - skill * skill
        for k in range(first, last):
            votes[label[k]] = 0.0
    return pull, curvature


@compiled
def label_weights(start: NDArray[np.int64], worker: Codes, x: Array) -> Array:
    """N x in one pass over the tasks."""
    sums = np.zeros(len(x))
    for task in range(len(start) - 1):
        total = 0.0
        for k in range(start[task], start[task + 1]):
            total += x[worker[k]]
        for k in range(start[task], start[task + 1]):
            sums[worker[k]] += total - x[worker[k]]
    return sums


@compiled
def vote(  # noqa: PLR0917  # compiled code is called by position
    task: Codes, worker: Codes, label: Codes, weight: Array, tasks: int, classes: int
) -> Array:
    """Sum of the weights of the workers who gave each class, shape (tasks, classes)."""
    scores = np.zeros((tasks, classes))
    for k in range(len(task)):
        scores[task[k], label[k]] += weight[worker[k]]
    return scores
