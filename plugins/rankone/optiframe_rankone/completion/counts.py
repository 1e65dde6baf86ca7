"""How often each pair of workers met and agreed, and the correlations that follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes, fixed_codes
from optiframe_rankone.kernels.pairs import count_pairs, count_table


def co_occurrence(
    first: NDArray[np.int64], worker: Codes, label: NDArray[np.integer[Any]], workers: int
) -> tuple[sp.csr_array, Array]:
    """How often each pair of workers met, and how often they agreed.

    Parameters
    ----------
    first
        Where the labels of each task begin, and their number, shape (tasks + 1,).
    worker, label
        Codes, shape (labels,), sorted by task and then by worker, no pair twice.
    workers
        How many there are.

    Returns
    -------
    shared : csr_array of shape (workers, workers)
        Number of tasks labelled by both (N_ij); symmetric, zero diagonal.
    agreed : array of shape (pairs,)
        Number of those on which both gave the same label, in the order of ``shared.data``.

    Notes
    -----
    Time is the sum over tasks of (labels of the task)^2, memory 32 bytes for each ordered pair of workers
    who met, and 32 MB more at most or 4 bytes for each pair of labels of the busiest worker.
    """
    start, column, shared, agreed = count_pairs(first, worker, fixed_codes(label), workers)
    return sp.csr_array((shared, column, start), shape=(workers, workers)), agreed


def correlation_table(
    first: NDArray[np.int64], worker: Codes, label: NDArray[np.integer[Any]], workers: int, classes: int
) -> tuple[Array, Array]:
    """Tasks shared by each pair of workers, and the correlations: dense, 16 bytes for each ordered pair."""
    shared, correlation = count_table(first, worker, fixed_codes(label), workers, classes)
    return shared, correlation


def correlations_of(shared: Array, agreed: Array, classes: int) -> Array:
    """Correlation of pairs of workers (Lemma 7), 0 where they share no task; written over `agreed`."""
    agreed *= classes  # in place: these may be millions
    with np.errstate(invalid="ignore"):  # 0/0, twice as fast as to divide where something is shared
        agreed /= shared
    agreed -= 1.0
    agreed /= classes - 1.0
    agreed[shared == 0] = 0.0
    return agreed
