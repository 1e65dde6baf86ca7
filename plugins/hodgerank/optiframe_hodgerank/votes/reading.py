"""Comparisons as decided votes in order of their workers."""

from __future__ import annotations

import numpy as np

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
