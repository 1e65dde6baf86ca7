"""What the kernels compute, in plain NumPy.

Labels are codes of 32 bits, `task`, `worker` and `label`, all of shape (labels,). Where they are in order of
tasks, `first`, of shape (tasks + 1,), says where the labels of each task begin, and ends with their number.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes

Firsts = NDArray[np.int64]


def encode(values: NDArray[np.int64]) -> tuple[Codes, NDArray[np.int64]]:
    """Place of each of n numbers among the k ids, shape (n,), and the ids: every number once, rising."""
    ids, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), ids


def encode_texts(start: Firsts, letters: NDArray[np.uint8]) -> tuple[Codes, NDArray[np.int64]]:
    """Place of each of n texts among the k ids, shape (n,), and where each id first appears, shape (k,).

    The ids are every text once, in order of their letters. Text j is the `letters`, bytes of UTF-8, from
    ``start[j]`` up to ``start[j + 1]``; `start` has the shape (n + 1,).

    Raises
    ------
    ValueError
        When `start` does not divide the letters.
    """
    texts = [letters[i:j].tobytes() for i, j in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)]
    row = {text: k for k, text in reversed(list(enumerate(texts)))}
    place = {text: code for code, text in enumerate(sorted(row))}
    codes = np.array([place[text] for text in texts], dtype=np.int32)
    return codes, np.array([row[text] for text in place], dtype=np.int64)


def sort_labels(
    task: Codes, worker: Codes, label: Codes, tasks: int, workers: int
) -> tuple[Codes, Codes, Codes]:
    """Task, worker and label in order of task and then worker, equal ones in their own order.

    Raises
    ------
    ValueError
        When codes are not below `tasks` and `workers`, or lengths disagree.
    """
    rows = np.lexsort([worker, task])
    return task[rows], worker[rows], label[rows]


def count_codes(codes: Codes, count: int) -> NDArray[np.int64]:
    """How often each code below `count` occurs, shape (count,).

    Raises
    ------
    ValueError
        When a code is not below `count`.
    """
    return np.bincount(codes, minlength=count)


def vote(first: Firsts, worker: Codes, label: Codes, weight: Array, classes: int) -> Array:
    """Sum of the weights of the workers who gave each class, shape (tasks, classes).

    `weight` has a number for each worker.

    Raises
    ------
    ValueError
        When codes or lengths are wrong.
    """
    tasks = len(first) - 1
    sums = np.bincount(_task(first) * classes + label, weights=weight[worker], minlength=tasks * classes)
    return np.asarray(sums.reshape(tasks, classes), dtype=np.float64)


def count_pairs(
    first: Firsts, worker: Codes, label: Codes, workers: int
) -> tuple[Codes, Codes, Array, Array]:
    """How many tasks each pair of workers shares, N_ij, and on how many they gave the same label.

    Workers rise within each task. The pairs that share a task are the entries of a symmetric sparse matrix
    by rows, columns rising: where its rows begin, shape (workers + 1,), and of each entry the column, N_ij,
    and the number of agreements.

    Raises
    ------
    ValueError
        When codes or lengths are wrong, or workers do not rise.
    """
    tasks, classes = len(first) - 1, int(label.max(initial=0)) + 1
    shared = _off_diagonal(sp.csr_array((np.ones(len(worker)), worker, first), shape=(tasks, workers)))
    agreed = sp.csr_array((workers, workers))
    for value in range(classes):
        given = np.flatnonzero(label == value)
        entries = np.ones(len(given)), (_task(first)[given], worker[given])
        agreed = agreed + _off_diagonal(sp.csr_array(entries, shape=(tasks, workers)))
    both = sp.csr_array(agreed + shared)  # pairs that never agreed stay in the pattern
    both.sort_indices()
    return *_pattern(shared), shared.data, both.data - shared.data


def count_table(
    first: Firsts, worker: Codes, label: Codes, workers: int, classes: int
) -> tuple[Array, Array]:
    """N_ij of every pair of workers and their correlations, two matrices of shape (workers, workers).

    The correlation (Ma et al., Lemma 7) is (M a - 1) / (M - 1) for M classes and agreement on the share a of
    the tasks; 0 where no task is shared.

    Raises
    ------
    ValueError
        As `count_pairs`, or when there are fewer than two classes.
    """
    start, column, *counts = count_pairs(first, worker, label, workers)
    shape = (workers, workers)
    shared, agreed = (sp.csr_array((each, column, start), shape=shape).toarray() for each in counts)
    with np.errstate(invalid="ignore"):
        correlation = (agreed * classes / shared - 1.0) / (classes - 1.0)
    return shared, np.where(shared == 0, 0.0, correlation)


def misses(start: Codes, column: Codes, known: Array, target: Array, x: Array) -> float:
    """Sum of N_ij (C_ij - x_i x_j)^2 over the entries of two sparse matrices of one pattern.

    The pattern is that of a matrix by rows, `start` of shape (size + 1,); `known` and `target` are N and C, a
    number for each entry, and `x` has shape (size,).

    Raises
    ------
    ValueError
        When codes or lengths are wrong.
    """
    row = np.repeat(np.arange(len(x)), np.diff(start))
    return float(np.sum(known * (target - x[row] * x[column]) ** 2))


def sweep(
    start: Codes, column: Codes, known: Array, weighted: Array, x: Array, lower: Array, upper: Array
) -> float:
    """Set each entry of `x` in turn to its best value while the others stay; returns the largest move.

    That is sum_j N_ij C_ij x_j / sum_j N_ij x_j^2, within the bounds; an entry without curvature stays.
    Arguments as in `misses`; `weighted` is N * C, and `x` and the bounds have shape (size,).

    Raises
    ------
    ValueError
        When codes or lengths are wrong.
    """
    shape = (len(x), len(x))
    n, nc = (sp.csr_array((each, column, start), shape=shape).toarray() for each in (known, weighted))
    return sweep_dense(n, nc, x, lower, upper)


def sweep_dense(known: Array, weighted: Array, x: Array, lower: Array, upper: Array) -> float:
    """The same for N and N * C as matrices of shape (size, size).

    Raises
    ------
    ValueError
        When lengths are wrong.
    """
    largest = 0.0
    for i in range(len(x)):
        pull, curvature = float(weighted[i] @ x), float(known[i] @ x**2)
        if curvature > np.finfo(np.float64).tiny:
            best = min(max(pull / curvature, lower[i]), upper[i])
            largest = max(largest, float(abs(best - x[i])))
            x[i] = best
    return largest


def label_pulls(first: Firsts, worker: Codes, label: Codes, x: Array, classes: int) -> tuple[Array, Array]:
    """(N * C) x and N x^2 out of the labels, both of shape (workers,), for `x` of shape (workers,).

    N_ij C_ij is the sum over the tasks of workers i and j of 1 where they agree and -1/(M - 1) where not, M
    the number of classes (Ma et al., Lemma 7), so that the pull at worker i is the sum over the own tasks of
    M/(M - 1) sum_j x_j of the others who agree - 1/(M - 1) sum_j x_j of all others.

    Raises
    ------
    ValueError
        When codes or lengths are wrong, or there are fewer than two classes.
    """
    agree, disagree = classes / (classes - 1.0), 1.0 / (classes - 1.0)
    same, total, squares = _of_others(first, worker, label, x, classes)
    pull = np.bincount(worker, weights=agree * same - disagree * total, minlength=len(x))
    curvature = np.bincount(worker, weights=squares, minlength=len(x))
    return pull.astype(np.float64), curvature.astype(np.float64)


def label_weights(first: Firsts, worker: Codes, x: Array) -> Array:
    """N x out of the labels, shape (workers,), for `x` of shape (workers,).

    Raises
    ------
    ValueError
        When codes or lengths are wrong.
    """
    task = _task(first)
    total = np.bincount(task, weights=x[worker], minlength=len(first) - 1)[task]
    return np.bincount(worker, weights=total - x[worker], minlength=len(x)).astype(np.float64)


def task_pulls(
    first: Firsts, worker: Codes, label: Codes, x: Array, classes: int, pull: Array
) -> tuple[Array, Array, Array]:
    """Sums over the labels of each worker, each of shape (workers,), for `x` of shape (workers,).

    Of label k, by worker i, the pull is g_k = sum over the others j on its task of (y_ij - x_i x_j) x_j,
    where y_ij is 1 if they agree and else -1/(M - 1) (Ma et al., Lemmas 6 and 7). The sums are those of the
    others' x_j^2, of g_k and of g_k^2. Written to: `pull`, g_k of each label; empty to keep only the sums.

    Raises
    ------
    ValueError
        When codes or lengths are wrong, or there are fewer than two classes.
    """
    same, total, others = _of_others(first, worker, label, x, classes)
    pulls = (classes * same - total) * (1.0 / (classes - 1.0)) - x[worker] * others
    if len(pull):
        pull[:] = pulls
    parts = (np.maximum(others, 0.0), pulls, pulls * pulls)
    curvature, sums, squares = (np.bincount(worker, each, minlength=len(x)) for each in parts)
    return curvature.astype(np.float64), sums.astype(np.float64), squares.astype(np.float64)


def count_classes(
    first: Firsts, worker: Codes, label: Codes, weight: Array, posterior: Array, workers: int
) -> Array:
    """Expected number of times that a worker gave each label to tasks of each class.

    `weight` says how many times each label counts, shape (labels,), or (0,) where each counts once.
    `posterior` has shape (tasks, classes); the counts have shape (workers, labels, classes), with as many
    labels as classes.

    Raises
    ------
    ValueError
        When codes or lengths are wrong.
    """
    classes = posterior.shape[1]
    cell, task, size = worker.astype(np.int64) * classes + label, _task(first), workers * classes
    times = weight if len(weight) else np.ones(len(label))
    columns = [np.bincount(cell, times * posterior[task, k], minlength=size) for k in range(classes)]
    return np.stack(columns, axis=1).reshape(workers, classes, classes).astype(np.float64)


def pooled_posteriors(
    first: Firsts,
    worker: Codes,
    label: Codes,
    weight: Array,
    known: NDArray[np.uint8],
    posterior: Array,
    counts: Array,
    abilities: tuple[float, float],
    strength: float,
    odds: Array,
    errors: Array,
    shares: Array,
    without_own: bool,
) -> float:
    """Posteriors of the classes of every task, from what is expected of the workers; see
    `optiframe_rankone.solvers.pooled_em`.

    `weight` says how many times each label counts, shape (labels,), or (0,) where each counts once: its
    chance to that power, and so many times left out of the counts.

    Written to: `posterior`, shape (tasks, classes), of the tasks that are not `known`, shape (tasks,).
    `counts` are those of `count_classes` with the former posteriors, `abilities` the a and b of a Beta
    distribution, `odds` has shape (classes,) and `errors` (labels, classes); `shares` has shape (classes,),
    or (0,) for equal ones. Returned: the largest change.

    Raises
    ------
    ValueError
        When codes or lengths are wrong.
    """
    task, mine = _task(first), np.arange(len(label))
    times = weight if len(weight) else np.ones(len(label))
    own = times * float(without_own)
    less = own[:, None] * posterior[task]
    right = abilities[0] + np.einsum("jkk->j", counts)[worker] - less[mine, label]
    wrong = sum(abilities) + counts.sum(axis=(1, 2))[worker] - own - right
    lifted = right[:, None] * odds
    chance = wrong[:, None] * errors[label]
    chance[mine, label] = lifted[mine, label]
    chance /= wrong[:, None] + lifted
    given, of_class = counts[worker, label] - less, counts.sum(axis=1)[worker] - less
    factor = times[:, None] * np.log(np.maximum((strength * chance + given) / (strength + of_class), 1e-10))
    prior = np.log(shares - without_own * posterior + 1.0) if len(shares) else np.zeros(posterior.shape)
    of_task = sp.csr_array((np.ones(len(label)), mine, first), shape=(len(first) - 1, len(label)))
    score = prior + of_task @ factor
    found = np.exp(score - score.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    unknown = known == 0
    change = np.abs(found - posterior)[unknown].max(initial=0.0)
    posterior[unknown] = found[unknown]
    return float(change)


def _task(first: Firsts) -> NDArray[np.int64]:
    """Task of each label."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _of_others(
    first: Firsts, worker: Codes, label: Codes, x: Array, classes: int
) -> tuple[Array, Array, Array]:
    """For each label, over the others on its task: x of those who agree, x of all, and x^2 of all, summed."""
    task, mine, tasks = _task(first), x[worker], len(first) - 1
    cell = task * classes + label
    same = np.bincount(cell, weights=mine, minlength=tasks * classes)[cell] - mine
    total = np.bincount(task, weights=mine, minlength=tasks)[task] - mine
    squares = np.bincount(task, weights=mine * mine, minlength=tasks)[task] - mine * mine
    return same, total, squares


def _off_diagonal(given: sp.csr_array) -> sp.csr_array:
    """How many rows of a matrix of zeros and ones two columns share, for different columns that share any."""
    counts = sp.coo_array(given.T @ given)
    off = counts.row != counts.col
    result = sp.csr_array((counts.data[off], (counts.row[off], counts.col[off])), shape=counts.shape)
    result.sort_indices()
    return result


def _pattern(matrix: sp.csr_array) -> tuple[Codes, Codes]:
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
