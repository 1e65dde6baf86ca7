"""Pairs of workers counted in a triangular table, by compiled loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes
from optiframe_rankone.kernels import prepared

NARROW, WIDE = np.uint16, np.uint64
_TRIED = 16  # one label in so many shows whether narrow counters will do
_MOST = 255 // _TRIED  # tasks shared by then: what a narrow counter holds, at that rate


@dataclass(frozen=True, eq=False)
class CountTable:
    """How often each pair of workers met, and how often they agreed.

    Parameters
    ----------
    counts
        Shape (workers (workers - 1)/2,), those of workers i < j at j (j - 1)/2 + i: tasks labelled
        by both in the lower half of an entry's bits, tasks on which they agreed in the upper.
    workers
        How many there are.

    Notes
    -----
    Entries have 16 bits where no pair shares more than 255 tasks, else 64. Half a million of the
    narrow ones stay in a processor's second cache, where counting takes half the time.
    """

    counts: NDArray[np.unsignedinteger[Any]]
    workers: int

    @classmethod
    def of_labels(cls, task: Codes, worker: Codes, label: Codes, workers: int) -> CountTable:
        """From labels sorted by task and then by worker; 1 or 4 bytes for each ordered pair of workers.

        Narrow counters are tried first, and given up where the first labels show that they will
        run over, or where they did: what is shared then no longer sums to the pairs counted.
        """
        few = int(np.searchsorted(task, task[len(task) // _TRIED]))  # of whole tasks
        begun = cls.empty(workers, NARROW)
        met = begun.add(task[:few], worker[:few], label[:few])
        if begun.shared.max(initial=0) <= _MOST:
            met += begun.add(task[few:], worker[few:], label[few:])
            if int(begun.shared.sum(dtype=np.int64)) == met:
                return begun
        table = cls.empty(workers, WIDE)
        table.add(task, worker, label)
        return table

    @classmethod
    def empty(cls, workers: int, width: type[Any]) -> CountTable:
        """A table of zeros, of `NARROW` or `WIDE` entries."""
        return cls(np.zeros(workers * (workers - 1) // 2, dtype=width), workers)

    def add(self, task: Codes, worker: Codes, label: Codes) -> int:
        """Counts the pairs of labels of each task; how many there were."""
        codes = (prepared.fixed(each) for each in (task, worker, label))
        return int(prepared.kernels("compiled_pairs").count_pairs(*codes, self.counts, int(self.shift)))

    @property
    def shift(self) -> Any:
        """Bits of a counter, in the type of the counts."""
        return self.counts.dtype.type(4 * self.counts.itemsize)

    @property
    def shared(self) -> NDArray[np.unsignedinteger[Any]]:
        """Tasks shared by each pair, in the order of `counts`."""
        return self.counts & self.counts.dtype.type((1 << int(self.shift)) - 1)

    def entries(self) -> tuple[sp.csr_array, Array]:
        """What `passes.co_occurrence` gives, which is the twin; 40 bytes for each ordered pair that met."""
        module, table = prepared.kernels("compiled_pairs"), prepared.fixed(self.counts, self.counts.dtype)
        start = np.zeros(self.workers + 1, dtype=np.int32)
        module.pairs_met(table, start)
        stored = int(start[-1])
        columns, shared, agreed = np.empty(stored, dtype=np.int32), np.empty(stored), np.empty(stored)
        module.fill_rows(table, self.shift, start, columns, shared, agreed)
        return sp.csr_array((shared, columns, start), shape=(self.workers, self.workers)), agreed
