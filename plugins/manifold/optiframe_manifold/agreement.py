"""How far two rows of scores agree, for many rows at once: Kendall's tau, and the best k items.

Scores that are equal but for rounding are ties; a tie counts as a draw by lot would on average.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

Levels = NDArray[np.int64]

_SAME = 1e-9
"""Scores within this much of each other, relative to the row's largest, are tied: far above the
rounding of a sum over factors (1e-15 a term), far below any difference that means something."""


def levels(scores: Array) -> Levels:
    """Place of each score among the distinct scores of its row, 0 for the lowest, shape (rows, n).

    O(n log n) a row. A chain of scores each nearly equal to the next is one level.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    rising = np.take_along_axis(scores, order, axis=1)
    step = np.zeros(scores.shape, dtype=np.int64)
    step[:, 1:] = rising[:, 1:] - rising[:, :-1] > nearness(scores)
    level = np.empty_like(step)
    np.put_along_axis(level, order, np.cumsum(step, axis=1), axis=1)
    return level


def nearness(scores: Array) -> Array:
    """How near two scores of a row are tied, shape (rows, 1)."""
    return np.asarray(_SAME * np.abs(scores).max(axis=1, initial=0.0, keepdims=True))


def kendall_tau(truth: Levels, found: Levels) -> Array:
    """Kendall's tau-b of each row of levels with the same row of another table, shape (rows,).

    O(n log n) a row. nan where all of the truth is tied; 0 where only `found` is, since an
    answer that tells nothing agrees no better than a random order.
    """
    from scipy.stats import kendalltau

    tau = np.full(len(truth), np.nan)
    for i in np.flatnonzero(truth.max(axis=1, initial=0) > 0):
        tau[i] = kendalltau(truth[i], found[i]).statistic if found[i].any() else 0.0
    return tau


def top_overlap(first: Levels, second: Levels, k: int) -> Array:
    """Share of the best `k` of each row that two tables have in common, shape (rows,).

    Where items tie for the last places, each counts by its chance of getting one.
    """
    k = min(k, first.shape[1])
    return np.asarray((_chances(first, k) * _chances(second, k)).sum(axis=1) / k)


def _chances(level: Levels, k: int) -> Array:
    """Chance of each item to be among the best k, ties broken by lot."""
    n = level.shape[1]
    last = np.partition(level, n - k, axis=1)[:, n - k : n - k + 1]
    above, tied = level > last, level == last
    room = k - above.sum(axis=1, keepdims=True)
    return np.asarray(above + tied * (room / tied.sum(axis=1, keepdims=True)))
