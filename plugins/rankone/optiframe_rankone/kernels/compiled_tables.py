"""Compiled twins of the passes over a table of labels; see `optiframe_rankone.kernels.prepared`.

Codes are unsigned and read-only: each function is compiled for one type, and nobody asks of an index
whether it is below 0. Whole numbers in,
whole numbers out: these give the very numbers of their NumPy twins; the sums of decimals
give them up to rounding. Memory is handed in by the caller where it is large: NumPy asks for
large pages, which the compiler's runtime does not, and half of the time would go into small ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes
from optiframe_rankone.kernels.compiling import compiled


@compiled
def crowded_codes(
    values: NDArray[np.int64], least: int, place: NDArray[np.int32], codes: NDArray[np.int32]
) -> int:
    """Codes of numbers from `least` on, in their order, and how many there are.

    ``place``, a zero for each number of the span, becomes its code plus 1, or 0 where it is absent.
    """
    for k in range(len(values)):
        place[values[k] - least] = 1
    count = 0
    for value in range(len(place)):
        if place[value]:
            count += 1
            place[value] = count
    if count == len(place):  # no number is left out: nothing to look up
        for k in range(len(values)):
            codes[k] = values[k] - least
    else:
        for k in range(len(values)):
            codes[k] = place[values[k] - least] - 1
    return count


@compiled
def pack_labels(  # noqa: PLR0917  # compiled code is called by position
    task: Codes, worker: Codes, label: Codes, of_worker: int, of_label: int, packed: Any
) -> None:
    """Each label as one number: the task, then ``of_worker`` bits, then ``of_label`` bits."""
    for k in range(len(task)):
        cell = (np.int64(task[k]) << of_worker) | np.int64(worker[k])
        packed[k] = (cell << of_label) | np.int64(label[k])


@compiled
def unpack_labels(  # noqa: PLR0917  # compiled code is called by position
    packed: Any,
    of_worker: int,
    of_label: int,
    task: NDArray[np.int32],
    worker: NDArray[np.int32],
    label: NDArray[np.int32],
    per_task: NDArray[np.int64],
    per_worker: NDArray[np.int64],
) -> bool:
    """The sorted labels out of their numbers, and counted; whether a task and worker occur twice.

    The last five are filled; the counts are zero before.
    """
    workers, labels = (1 << of_worker) - 1, (1 << of_label) - 1
    twice, before = False, np.int64(-1)
    for k in range(len(packed)):
        number = np.int64(packed[k])
        cell = number >> of_label
        twice |= cell == before
        before = cell
        t, i = np.uint64(cell >> of_worker), np.uint64(cell & workers)
        task[k], worker[k], label[k] = t, i, number & labels
        per_task[t] += 1
        per_worker[i] += 1
    return twice


@compiled
def task_pulls(  # noqa: PLR0917  # compiled code is called by position
    task: Codes,
    worker: Codes,
    label: Codes,
    classes: int,
    x: Array,
    pull: Array,
    sums: NDArray[np.float64],
) -> None:
    """g of each label, where ``pull`` has room for them, and sums for each worker; see `trust.intervals`.

    The columns of ``sums``: the others' squared skills, g, and its square.
    """
    votes, share = np.zeros(classes), 1.0 / (classes - 1.0)
    first = 0
    while first < len(task):
        last = first
        total, squares = 0.0, 0.0
        while last < len(task) and task[last] == task[first]:
            skill = x[worker[last]]
            votes[label[last]] += skill
            total += skill
            squares += skill * skill
            last += 1
        for k in range(first, last):
            i = worker[k]
            skill = x[i]
            others = squares - skill * skill
            g = (classes * (votes[label[k]] - skill) - (total - skill)) * share - skill * others
            if len(pull):
                pull[k] = g
            sums[i, 0] += max(others, 0.0)
            sums[i, 1] += g
            sums[i, 2] += g * g
        for k in range(first, last):
            votes[label[k]] = 0.0
        first = last


@compiled
def vote(  # noqa: PLR0917  # compiled code is called by position
    task: Codes, worker: Codes, label: Codes, weight: Array, classes: int, scores: Array
) -> None:
    """Adds the weight of the worker of each label to ``scores``, shape (tasks * classes,)."""
    for k in range(len(task)):
        scores[task[k] * np.uint64(classes) + label[k]] += weight[worker[k]]
