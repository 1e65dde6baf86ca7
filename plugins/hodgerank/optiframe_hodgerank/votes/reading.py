"""Comparisons as decided votes in order of their workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.kernels.votes import votes_by_worker
from optiframe_hodgerank.votes.workers import WorkerVotes


def worker_votes(comparisons: Comparisons) -> WorkerVotes:
    """The decided votes in order of their workers."""
    table, merged = comparisons, comparisons.merged
    assert table.worker is not None
    # Merged rows are sorted by pair.
    new = np.ones(len(merged), dtype=bool)
    new[1:] = (merged.left[1:] != merged.left[:-1]) | (merged.right[1:] != merged.right[:-1])
    pair, workers = np.cumsum(new) - 1, len(table.worker_ids)
    rows = (table.worker, table.left, table.right, table.margin, table.weight)
    return WorkerVotes(*votes_by_worker(workers, *rows, merged.inverse, pair))


def rows_by_worker(comparisons: Comparisons) -> NDArray[np.int64]:
    """Which comparison each vote of `worker_votes` is."""
    assert comparisons.worker is not None
    decided = np.flatnonzero(comparisons.margin)
    code = comparisons.worker[decided]
    last = np.where(code < 0, len(comparisons.worker_ids), code)
    return np.asarray(decided[np.argsort(last, kind="stable")])
