"""The worker graph: two workers are joined when they share a task (Ma et al., Definition 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from optiframe_rankone.ids import Codes

_LABELS_EACH = 16  # labels a worker in the first block, which usually connects all; four times as many then
_PAIRS_EACH = 8  # pairs of each worker, which usually connect all where all pairs do
_BLOCK = 2**22  # labels at a time at most: 250 MB


@dataclass(frozen=True, eq=False)
class WorkerGraph:
    """What the graph says about which skills can be known.

    Skills are settled up to sign within a connected component that has an odd cycle
    (Theorem 8). In a bipartite one, one side's skills can be multiplied and the other
    side's divided by the same number without any correlation changing (Lemma 10). Between
    components nothing is compared at all.

    Parameters
    ----------
    edges
        Symmetric adjacency matrix, shape (workers, workers), zero diagonal. Edges may be
        left out as long as components and the parity of cycles stay the same.
    """

    edges: sp.csr_array

    @classmethod
    def of_labels(cls, task: Codes, worker: Codes, workers: int) -> WorkerGraph:
        """From labels sorted by task; time linear in the labels.

        Labels are taken in blocks. What connects workers whom the blocks before put in one
        component with an odd cycle tells nothing new and is left out, and nothing more is
        looked at when all are in one, as they usually are soon. Memory is then about 60 bytes
        a label of a block.
        """
        graph = cls(sp.csr_array((workers, workers)))
        first, block = 0, _LABELS_EACH * workers
        while first < len(task):
            last = first + block
            # Two labels more: a pair may reach over the end of its block.
            ends = _pairs_on_shared_tasks(task[first : last + 2], worker[first : last + 2])
            if first:
                settled = ~graph.bipartite & ~graph.isolated
                known = (graph.component[ends[0]] == graph.component[ends[1]]) & settled[ends[0]]
                ends = ends[0][~known], ends[1][~known]
            if len(ends[0]):
                rows, columns = np.concatenate([*ends]), np.concatenate([*ends[::-1]])
                fresh = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(workers, workers))
                graph = cls(sp.csr_array(graph.edges + fresh))
            first, block = last, min(4 * block, _BLOCK)
            if graph.components == 1 and not graph.bipartite.any():
                break
        return graph

    @classmethod
    def of_pairs(cls, shared: sp.csr_array) -> WorkerGraph:
        """From the tasks that each pair of workers shares: symmetric, nothing on the diagonal.

        A few pairs of each worker are kept where they connect all workers and some ring among them is odd,
        as in most crowds; else all pairs.
        """
        workers, size = shared.shape[0], np.diff(shared.indptr)
        if shared.nnz > 2 * _PAIRS_EACH * workers and size.all():
            kept = shared.indptr[:-1, None] + size[:, None] * np.arange(_PAIRS_EACH) // _PAIRS_EACH
            ends = np.repeat(np.arange(workers), _PAIRS_EACH), shared.indices[kept.ravel()]
            rows, columns = np.concatenate(ends), np.concatenate(ends[::-1])
            few = cls(sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shared.shape))
            if few.components == 1 and not few.bipartite.any():
                return few
        return cls(shared)

    @cached_property
    def component(self) -> NDArray[np.int64]:
        """Component of each worker, shape (workers,)."""
        return np.asarray(connected_components(self.edges, directed=False)[1], dtype=np.int64)

    @property
    def components(self) -> int:
        """Number of components; a worker who shares no task is one alone."""
        return int(self.component.max()) + 1

    @cached_property
    def isolated(self) -> NDArray[np.bool_]:
        """Workers who share no task with anyone."""
        return np.asarray(np.diff(self.edges.indptr) == 0)

    @cached_property
    def bipartite(self) -> NDArray[np.bool_]:
        """Workers in a bipartite component of two workers or more.

        In the double cover, where each worker is doubled and each edge crosses, a worker
        is connected with the own double exactly when an odd cycle passes through the component.
        """
        edges, workers = self.edges, self.edges.shape[0]
        columns = np.concatenate([edges.indices + workers, edges.indices])
        start = np.concatenate([edges.indptr, edges.indptr[1:] + edges.nnz])
        cover = sp.csr_array((np.ones(len(columns)), columns, start), shape=(2 * workers, 2 * workers))
        side = connected_components(cover, directed=False)[1]
        return np.asarray((side[:workers] != side[workers:]) & ~self.isolated)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of a worker-wise quantity over each component, shape (components,)."""
        sums = np.bincount(self.component, weights=values, minlength=self.components)
        return np.asarray(sums, dtype=np.float64)


def _pairs_on_shared_tasks(task: Codes, worker: Codes) -> tuple[Codes, Codes]:
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
