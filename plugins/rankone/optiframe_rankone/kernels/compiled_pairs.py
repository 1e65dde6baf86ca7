"""Compiled loops over pairs of workers: counting them, and the sums that descent needs of them.

Counts are a triangle: those of workers i < j are entry j (j - 1)/2 + i of a table, since half of the
table stays in the processor's cache. An entry holds two counters, the tasks shared in its lower
half and those agreed on in its upper half; ``shift`` is the width of one, in the table's own type
where it is not int. See `optiframe_rankone.kernels.count_table`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes
from optiframe_rankone.kernels.compiling import compiled, compiled_sums


@compiled
def count_pairs(task: Codes, worker: Codes, label: Codes, table: Any, shift: int) -> int:
    """Adds each pair of labels of a task to ``table``; how many pairs there were."""
    first, pairs = 0, 0
    while first < len(task):
        last = first + 1
        while last < len(task) and task[last] == task[first]:
            last += 1
        for later in range(first + 1, last):
            j, what = np.int64(worker[later]), label[later]
            row = np.uint64(j * (j - 1) // 2)
            for k in range(first, later):  # without a branch, which would be foreseen half of the time
                table[row + worker[k]] += 1 + (np.int64(label[k] == what) << shift)
        pairs += (last - first) * (last - first - 1) // 2
        first = last
    return pairs


@compiled
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


@compiled
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
    ones = (shift // shift << shift) - shift // shift  # the lower counter's bits
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


@compiled_sums
def table_products(  # noqa: PLR0917  # compiled code is called by position
    table: Any, shift: Any, classes: float, x: Array, y: Array, pull: Array, weight: Array
) -> None:
    """Adds (M - 1)(N * C) x = (M A - N) x to ``pull`` and N y to ``weight``, A what was agreed on."""
    ones = (shift // shift << shift) - shift // shift
    k = 0
    for j in range(len(x)):
        row, mine, others = table[k : k + j], 0.0, 0.0
        for i in range(j):
            both = float(row[i] & ones)
            same = classes * float(row[i] >> shift) - both
            mine += same * x[i]
            others += both * y[i]
            pull[i] += same * x[j]
            weight[i] += both * y[j]
        pull[j] += mine
        weight[j] += others
        k += j


@compiled_sums
def table_misses(table: Any, shift: Any, classes: float, x: Array) -> float:
    """Sum of N_ij (C_ij - x_i x_j)^2 over pairs i < j, as (N C - N x x)^2 / N."""
    ones = (shift // shift << shift) - shift // shift
    total, k = 0.0, 0
    for j in range(len(x)):
        row, part = table[k : k + j], 0.0
        for i in range(j):
            both = float(row[i] & ones)
            gap = (classes * float(row[i] >> shift) - both) / (classes - 1.0) - both * x[i] * x[j]
            part += gap * gap / max(both, 1.0)  # 0 where they never met
        total += part
        k += j
    return total


@compiled
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
