"""Comparisons as decided votes in order of their workers."""

from __future__ import annotations

import numpy as np

from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.votes.workers import WorkerVotes


def worker_votes(comparisons: Comparisons) -> WorkerVotes:
    """The decided votes in order of their workers."""
    worker = comparisons.worker
    assert worker is not None
    merged = comparisons.merged
    decided = np.flatnonzero(comparisons.margin)
    code = worker[decided]
    nobody = code < 0
    code[nobody] = len(comparisons.worker_ids) + np.arange(nobody.sum())
    order = np.argsort(code, kind="stable")
    rows, code = decided[order], code[order]
    # Merged rows are sorted by pair.
    new = np.ones(len(merged), dtype=bool)
    new[1:] = (merged.left[1:] != merged.left[:-1]) | (merged.right[1:] != merged.right[:-1])
    pair = (np.cumsum(new) - 1)[merged.inverse[rows]]
    ahead = comparisons.margin[rows] > 0
    winner = np.where(ahead, comparisons.left[rows], comparisons.right[rows])
    loser = np.where(ahead, comparisons.right[rows], comparisons.left[rows])
    weight = np.ones(len(rows)) if comparisons.weight is None else comparisons.weight[rows]
    begins = np.flatnonzero(np.diff(code, prepend=-1))
    known = code[begins] < len(comparisons.worker_ids)
    return WorkerVotes(
        winner,
        loser,
        weight,
        pair,
        np.append(begins, len(rows)),
        np.where(known, code[begins], -1),
    )
