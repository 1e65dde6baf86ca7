"""Compiled twins of what leads from a table to pairs of workers; see `optiframe_rankone.prepared`.

Codes are int32 and read-only, so that each function is compiled for one type. Whole numbers in,
whole numbers out: these give the very numbers of their NumPy twins; the sums of decimals
give them up to rounding. Memory is handed in by the caller where it is large: NumPy asks for
large pages, which the compiler's runtime does not, and half of the time would go into small ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from optiframe.values import Array
from optiframe_rankone.ids import Codes

F = TypeVar("F", bound=Callable[..., Any])
_compile = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True))


@_compile
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
    for k in range(len(values)):
        codes[k] = place[values[k] - least] - 1
    return count


@_compile
def sort_labels(  # noqa: PLR0917  # compiled code is called by position
    task: Codes,
    worker: Codes,
    label: Codes,
    tasks: int,
    workers: int,
    packed: NDArray[np.int64],
    by_task: NDArray[np.int32],
    by_worker: NDArray[np.int32],
    by_label: NDArray[np.int32],
) -> bool:
    """Labels in order of task and then of worker, by counting; whether a pair occurs twice.

    The last four are filled; ``packed`` is working memory of one number for each label.
    """
    of_worker = np.zeros(workers + 1, dtype=np.int64)
    of_task = np.zeros(tasks + 1, dtype=np.int64)
    for k in range(len(task)):
        of_worker[worker[k] + 1] += 1
        of_task[task[k] + 1] += 1
    for i in range(workers):
        of_worker[i + 1] += of_worker[i]
    for t in range(tasks):
        of_task[t + 1] += of_task[t]
    start, first = of_worker.copy(), of_task.copy()
    for k in range(len(task)):
        packed[of_worker[worker[k]]] = (np.int64(task[k]) << 32) | np.int64(label[k])
        of_worker[worker[k]] += 1
    for i in range(workers):
        for k in range(start[i], start[i + 1]):
            t = packed[k] >> 32
            at = of_task[t]
            of_task[t] = at + 1
            by_worker[at] = i
            by_label[at] = packed[k] & 0xFFFFFFFF
    twice = False
    for t in range(tasks):
        for k in range(first[t], first[t + 1]):
            by_task[k] = t
            twice |= k > first[t] and by_worker[k] == by_worker[k - 1]
    return twice


@_compile
def count_pairs(task: Codes, worker: Codes, label: Codes, table: Any, agreed: Any) -> None:
    """Adds 1 for each pair of labels of a task, and `agreed` where they are the same.

    The counts of workers i < j are entry j (j - 1)/2 + i of ``table``: a triangle, since half of
    the table stays in the processor's cache.
    """
    single = agreed // agreed
    alike = agreed + single
    first = 0
    while first < len(task):
        last = first + 1
        while last < len(task) and task[last] == task[first]:
            last += 1
        for later in range(first + 1, last):
            j, what = np.int64(worker[later]), label[later]
            row = j * (j - 1) // 2
            for k in range(first, later):
                table[row + worker[k]] += alike if label[k] == what else single
        first = last


@_compile
def pairs_met(table: Any, start: NDArray[np.int32]) -> None:
    """Where each worker's row starts in a sparse matrix of the pairs that occur in `table`."""
    workers = len(start) - 1
    k = 0
    for j in range(workers):
        for i in range(j):
            if table[k]:
                start[i + 1] += 1
                start[j + 1] += 1
            k += 1
    for i in range(workers):
        start[i + 1] += start[i]


@_compile
def fill_rows(  # noqa: PLR0917  # compiled code is called by position
    table: Any,
    shift: Any,
    start: NDArray[np.int32],
    columns: NDArray[np.int32],
    shared: Array,
    agreed: Array,
) -> None:
    """The counts of `table` as the rows of a symmetric sparse matrix, columns in order."""
    workers = len(start) - 1
    place = start[:-1].copy()
    ones = (shift // shift << shift) - shift // shift  # the lower half of the bits, in the table's type
    k = 0
    for j in range(workers):  # a row holds what is left of it before its own turn, then the rest
        for i in range(j):
            if table[k]:
                both, same = float(table[k] & ones), float(table[k] >> shift)
                at = place[j]
                place[j] += 1
                columns[at], shared[at], agreed[at] = i, both, same
                at = place[i]
                place[i] += 1
                columns[at], shared[at], agreed[at] = j, both, same
            k += 1


@_compile
def misses(start: Codes, columns: Codes, known: Array, targets: Array, x: Array) -> float:
    """Sum of N_ij (C_ij - x_i x_j)^2 over the stored entries."""
    total = 0.0
    for i in range(len(start) - 1):
        row = 0.0
        for k in range(start[i], start[i + 1]):
            gap = targets[k] - x[i] * x[columns[k]]
            row += known[k] * gap * gap
        total += row
    return total


@_compile
def task_pulls(  # noqa: PLR0917  # compiled code is called by position
    task: Codes, worker: Codes, label: Codes, classes: int, x: Array, pull: Array, curvature: Array
) -> None:
    """g of each label and the sum of the others' squared skills of each worker; see `uncertainty`."""
    votes = np.zeros(classes)
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
            skill = x[worker[k]]
            others = squares - skill * skill
            gap = (classes * (votes[label[k]] - skill) - (total - skill)) / (classes - 1.0)
            pull[k] = gap - skill * others
            curvature[worker[k]] += max(others, 0.0)
        for k in range(first, last):
            votes[label[k]] = 0.0
        first = last


@_compile
def centred_squares(worker: Codes, values: Array, workers: int) -> Array:
    """Sum over each worker's labels of the squared distance of a value to the worker's mean."""
    count, mean, squares = np.zeros(workers), np.zeros(workers), np.zeros(workers)
    for k in range(len(worker)):
        count[worker[k]] += 1.0
        mean[worker[k]] += values[k]
    for i in range(workers):
        mean[i] /= max(count[i], 1.0)
    for k in range(len(worker)):
        gap = values[k] - mean[worker[k]]
        squares[worker[k]] += gap * gap
    return squares


@_compile
def vote(  # noqa: PLR0917  # compiled code is called by position
    task: Codes, worker: Codes, label: Codes, weight: Array, classes: int, scores: Array
) -> None:
    """Adds the weight of the worker of each label to ``scores``, shape (tasks * classes,)."""
    for k in range(len(task)):
        scores[np.int64(task[k]) * classes + label[k]] += weight[worker[k]]
