"""The passes over labels and pairs of workers that the solvers are made of.

Plain functions of arrays; every one has a slow, obvious twin in the tests.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes
from optiframe_rankone.kernels import prepared
from optiframe_rankone.kernels.count_table import CountTable

_WORTH_COMPILING = 4_000_000
"""Labels from which the compiled passes are used. Importing the compiler and compiling once on a
machine take about a second; on so many labels a run of ten steps saves about half a second."""

_TABLE = 2**23  # ordered pairs of workers for which tables of all are kept while counting: 320 MB
_LONG = 64  # labels of a task; products are no slower for longer ones
_BLOCK = 2**21  # pairs of labels counted at a time: 16 MB


def compiled_for(labels: int) -> ModuleType | None:
    """The compiled passes over labels (`optiframe_rankone.kernels.compiled`), where they pay.

    None for few labels, and where numba is not installed: SciPy's path gives the same numbers.
    """
    return _compiled() if labels >= _WORTH_COMPILING else None


@cache
def _compiled() -> ModuleType | None:
    try:
        return import_module("optiframe_rankone.kernels.compiled")
    except ImportError:  # not installed, or not for this version of NumPy
        return None


def co_occurrence(
    task: Codes, worker: Codes, label: Codes, *, tasks: int, workers: int, classes: int
) -> tuple[sp.csr_array, Array]:
    """How often each pair of workers met, and how often they agreed.

    Parameters
    ----------
    task, worker, label
        Codes, shape (labels,), sorted by task and then by worker, no pair twice.

    Returns
    -------
    shared : csr_array of shape (workers, workers)
        Number of tasks labelled by both (N_ij); symmetric, zero diagonal.
    agreed : array of shape (pairs,)
        Number of those on which both gave the same label, in the order of ``shared.data``.

    Notes
    -----
    Time is the sum over tasks of (labels of the task)^2, memory 32 bytes for each ordered
    pair of workers who met, or 40 for every ordered pair where there are few workers.
    """
    counted = count_table(task, worker, label, workers)
    if counted is not None:
        return counted.entries()
    size = np.bincount(task)
    if workers * workers <= min(_TABLE, 64 * max(len(task), 1024)) and size.max(initial=0) <= _LONG:
        return _co_occurrence_in_a_table(size, worker, label, workers)
    return _co_occurrence_by_products(task, worker, label, tasks=tasks, workers=workers, classes=classes)


def count_table(task: Codes, worker: Codes, label: Codes, workers: int) -> CountTable | None:
    """The same counts in a compact table, where compiled kernels are at hand and workers few; else None."""
    if workers * workers > _TABLE or not prepared.ready_for(len(task)):
        return None
    return CountTable.of_labels(task, worker, label, workers)


def _co_occurrence_in_a_table(
    size: NDArray[np.intp], worker: Codes, label: Codes, workers: int
) -> tuple[sp.csr_array, Array]:
    """Pairs of labels counted in a table of all pairs of workers; tasks of one size at a time."""
    start = np.cumsum(size) - size
    table = np.zeros(2 * workers * workers, dtype=np.int64)  # disagreements and agreements by turns
    for each in np.unique(size[size > 1]).tolist():
        first = start[size == each]
        pairs = each * (each - 1) // 2
        step = max(1, _BLOCK // pairs)
        for tasks in (first[k : k + step] for k in range(0, len(first), step)):
            labels = tasks + np.arange(each)[:, None]  # of these tasks, a column each
            who, what = worker[labels].astype(np.int64), label[labels]
            row, column = who * (2 * workers), who * 2
            cell, filled = np.empty((pairs, len(tasks)), dtype=np.int64), 0
            for i in range(each - 1):
                out = cell[filled : filled + each - 1 - i]
                np.add(row[i], column[i + 1 :], out=out)
                out += what[i] == what[i + 1 :]
                filled += len(out)
            table += np.bincount(cell.ravel(), minlength=len(table))
    both = table.reshape(workers, workers, 2)
    upper = both.sum(axis=2)
    shared, agreed = upper + upper.T, both[:, :, 1] + both[:, :, 1].T
    met = np.flatnonzero(shared)
    count = np.count_nonzero(shared, axis=1)
    start = np.concatenate([[0], np.cumsum(count)])
    columns = (met % workers).astype(np.int32)
    data = shared.ravel()[met].astype(np.float64)
    pattern = sp.csr_array((data, columns, start.astype(np.int32)), shape=(workers, workers))
    return pattern, agreed.ravel()[met].astype(np.float64)


def _co_occurrence_by_products(
    task: Codes, worker: Codes, label: Codes, *, tasks: int, workers: int, classes: int
) -> tuple[sp.csr_array, Array]:
    """Sparse products of the task-worker incidence with itself, for all labels and for each class."""
    start = np.searchsorted(task, np.arange(tasks + 1))
    given = sp.csr_array((np.ones(len(task)), worker, start), shape=(tasks, workers))
    shared = _without_diagonal(given.T @ given)
    agreed = sp.csr_array((workers, workers))
    for value in range(classes):
        of_class = np.flatnonzero(label == value)
        chosen = sp.csr_array((np.ones(len(of_class)), (task[of_class], worker[of_class])), given.shape)
        agreed = agreed + chosen.T @ chosen
    # Adding the (positive) counts keeps pairs that never agreed in the pattern.
    both = sp.csr_array(_without_diagonal(agreed) + shared)
    both.sort_indices()
    return shared, both.data - shared.data


def _without_diagonal(matrix: sp.csr_array) -> sp.csr_array:
    rows = sp.coo_array(matrix)
    off = rows.row != rows.col
    result = sp.csr_array((rows.data[off], (rows.row[off], rows.col[off])), shape=matrix.shape)
    result.sort_indices()
    return result


def order(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Stable order of keys that are at least 0: sixteen bits at a time, lowest first (radix sort).

    NumPy sorts 16-bit numbers in linear time and longer ones by comparing; for millions of
    keys that is four times slower.
    """
    result = np.argsort(keys.astype(np.uint16), kind="stable")  # the cast keeps the lowest bits
    shift, largest = 16, int(keys.max(initial=0))
    while largest >> shift:
        digit = (keys >> shift).astype(np.uint16)
        result = result[np.argsort(digit[result], kind="stable")]
        shift += 16
    return result


def vote(task: Codes, worker: Codes, label: Codes, weight: Array, *, tasks: int, classes: int) -> Array:
    """Sum of the weights of the workers who gave each class, shape (tasks, classes)."""
    if prepared.ready_for(len(task)):
        return prepared.vote(task, worker, label, weight, tasks=tasks, classes=classes)
    compiled = compiled_for(len(task))
    if compiled is not None:
        return np.asarray(compiled.vote(task, worker, label, weight, tasks, classes))
    cell = task.astype(np.int64) * classes + label
    sums = np.bincount(cell, weights=weight[worker], minlength=tasks * classes)
    return np.asarray(sums.reshape(tasks, classes), dtype=np.float64)


def expected_hits(task: Codes, worker: Codes, label: Codes, posterior: Array, workers: int) -> Array:
    """Expected number of right labels of each worker when task t has class l with ``posterior[t, l]``."""
    return np.asarray(
        np.bincount(worker, weights=posterior[task, label], minlength=workers), dtype=np.float64
    )


def softmax(scores: Array) -> Array:
    """Probabilities proportional to exp(scores), by rows."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def pairs_on_shared_tasks(task: Codes, worker: Codes) -> tuple[Codes, Codes]:
    """Edges enough to know the worker graph's components and which of them are bipartite.

    Joins each label to the next and the next but one of the same task. Workers of one
    task form a clique; this path of triangles through them connects the same workers and
    has an odd cycle exactly when the clique has (three workers or more), with at most two
    edges a label where the clique has one for each pair.
    """
    near = np.flatnonzero(task[1:] == task[:-1])
    far = np.flatnonzero(task[2:] == task[:-2])
    return (
        np.concatenate([worker[near], worker[far]]),
        np.concatenate([worker[near + 1], worker[far + 2]]),
    )
