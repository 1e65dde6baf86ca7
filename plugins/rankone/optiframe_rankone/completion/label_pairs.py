"""Pairs of workers left in the labels: products with N and C without any matrix of pairs."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.completion.counts import co_occurrence
from optiframe_rankone.completion.pairs import Pairs
from optiframe_rankone.ids import Codes, firsts, fixed_codes
from optiframe_rankone.kernels.pairs import label_pulls, label_weights
from optiframe_rankone.worker_graph import WorkerGraph

_ROUNDING = 1e-13  # share of a sum of up to some thousand terms that its rounding may reach


class LabelPairs(Pairs):
    """Pairs of workers weighted by the tasks they share, out of the labels: no matrix of pairs.

    With labels coded so that the product of two is 1 where they agree and -1/(M-1) where
    they do not, N_ij C_ij is the sum of the products over the tasks both labelled
    (Lemma 7), so that for task t with workers A_t, of whom A_tl gave label l,

        [(N * C) x]_i = sum_t (M/(M-1) sum_{j in A_tl} x_j - 1/(M-1) sum_{j in A_t} x_j) - N_i x_i,
        [N x]_i       = sum_t sum_{j in A_t} x_j - N_i x_i,

    the sums over the tasks of i, l the label that i gave. The objective is that of Eq. 2,
    1/2 sum over tasks and unordered pairs of (product of labels - x_i x_j)^2: by Lemma 6
    the weighted least squares up to a constant that only counting every pair would give.

    Parameters
    ----------
    task, worker, label
        Codes of 32 bits, shape (labels,), sorted by task, no worker twice in a task.
    tasks, workers, classes
        How many there are of each.

    Notes
    -----
    A product takes two passes over the labels. Memory besides the labels is 8 bytes a task, for `sweep`
    24 bytes a label and 16 for each task and class as well. (Compiled, a sweep was not faster: it waits
    for memory.)
    """

    def __init__(
        self,
        task: Codes,
        worker: Codes,
        label: Codes,
        *,
        tasks: int,
        workers: int,
        classes: int,
    ) -> None:
        size = np.bincount(task, minlength=tasks)
        if (size == 1).any():  # nobody to compare with: such labels enter no product
            shared = np.flatnonzero(size[task] > 1)
            task, worker, label = (fixed_codes(each[shared]) for each in (task, worker, label))
            size[size == 1] = 0
        self.size, self._tasks, self._classes = workers, tasks, classes
        self._task, self._worker, self._label = task, worker, label
        self._first = firsts(size)
        self._agree, self._disagree = classes / (classes - 1.0), 1.0 / (classes - 1.0)

    @cached_property
    def _count(self) -> Array:
        """Labels of each worker, N_i."""
        return np.bincount(self._worker, minlength=self.size).astype(np.float64)

    @cached_property
    def _cells(self) -> sp.csr_array:
        """Who gave each label to each task: rows (task, class) in this order, columns workers."""
        cell = self._task.astype(np.int64) * self._classes + self._label
        shape = (self._tasks * self._classes, self.size)
        return sp.csr_array((np.ones(len(cell)), (cell, self._worker)), shape=shape)

    @cached_property
    def _given(self) -> sp.csr_array:
        """Who labelled each task; shares the cells' memory, which are in order of tasks."""
        cells = self._cells
        start = cells.indptr[:: self._classes]
        return sp.csr_array((cells.data, cells.indices, start), shape=(self._tasks, self.size))

    def weights(self, x: Array) -> Array:
        return label_weights(self._first, self._worker, _vector(x))

    def products(self, x: Array) -> Array:
        return label_pulls(self._first, self._worker, self._label, _vector(x), self._classes)[0]

    def pulls(self, x: Array) -> tuple[Array, Array]:
        codes = self._first, self._worker, self._label
        pull, curvature = label_pulls(*codes, _vector(x), self._classes)
        # Sums minus own terms: where all others are 0 the difference is rounding, not curvature.
        curvature[curvature <= _ROUNDING * self._count * x * x] = 0.0
        return pull, curvature

    def absolute_sums(self) -> Array:
        """The row sums of N: no correlation is larger than 1."""
        return self.row_sums[1]

    @cached_property
    def _own(self) -> float:
        """The sum of the squared products of labels over ordered pairs and tasks."""
        products, weights = self.row_sums
        both = float(weights.sum())  # agreements and disagreements; products is a - d/(M-1)
        agreements = (float(products.sum()) + self._disagree * both) / (1.0 + self._disagree)
        return agreements + self._disagree**2 * (both - agreements)

    def cost(self, x: Array) -> float:
        pull, curvature = self.pulls(x)
        return (self._own - 2.0 * float(np.dot(x, pull)) + float(np.dot(x * x, curvature))) / 4.0

    @cached_property
    def _by_worker(self) -> sp.csc_array:
        """The cells ordered by worker; a column of indices says which cells are a worker's."""
        return sp.csc_array(self._cells)

    def sweep(self, x: Array, lower: Array, upper: Array) -> tuple[Array, float]:
        x, largest = x.copy(), 0.0
        # Sums are computed again in every sweep, so that rounding does not build up.
        votes = self._cells @ x
        total = votes.reshape(self._tasks, self._classes).sum(axis=1)
        squares = self._given @ (x * x)
        start = self._by_worker.indptr
        for i in range(self.size):
            mine = self._by_worker.indices[start[i] : start[i + 1]]
            task, old = mine // self._classes, x[i]
            curvature = squares[task].sum() - len(mine) * old * old
            if curvature <= _ROUNDING * len(mine) * old * old:
                continue
            pull = self._agree * votes[mine].sum() - self._disagree * total[task].sum() - len(mine) * old
            best = min(max(pull / curvature, lower[i]), upper[i])
            largest = max(largest, abs(best - old))
            # A worker has a task once, so no index occurs twice.
            votes[mine] += best - old
            total[task] += best - old
            squares[task] += best * best - old * old
            x[i] = best
        return x, float(largest)

    @cached_property
    def component(self) -> NDArray[np.int64]:
        return WorkerGraph.of_labels(self._task, self._worker, self.size).component

    def block(self, members: NDArray[np.intp]) -> Array:
        place = np.full(self.size, -1)
        place[members] = np.arange(len(members))
        chosen = np.flatnonzero(place[self._worker] >= 0)
        first = firsts(np.bincount(self._task[chosen], minlength=self._tasks))
        worker = fixed_codes(place[self._worker[chosen]])
        shared, agreed = co_occurrence(first, worker, self._label[chosen], len(members))
        sums = self._agree * agreed - self._disagree * shared.data
        return np.asarray(sp.csr_array((sums, shared.indices, shared.indptr), shared.shape).toarray())


def _vector(x: Array) -> Array:
    return np.ascontiguousarray(x, dtype=np.float64)
