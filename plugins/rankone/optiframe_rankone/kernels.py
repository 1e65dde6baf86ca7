"""The passes over labels and pairs of workers that the solvers are made of.

Plain functions of arrays; every one has a slow, obvious twin in the tests.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from optiframe.values import Array
from optiframe_rankone.ids import Codes


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
    pair of workers who met.
    """
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


def vote(task: Codes, worker: Codes, label: Codes, weight: Array, *, tasks: int, classes: int) -> Array:
    """Sum of the weights of the workers who gave each class, shape (tasks, classes)."""
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
