"""Compiling the kernels ahead of time."""

from __future__ import annotations

import numpy as np

from optiframe_rankone.completion.counted_pairs import CountedPairs
from optiframe_rankone.kernels import prepared
from optiframe_rankone.kernels.count_table import NARROW, WIDE, CountTable


def prepare() -> bool:
    """Load the compiled kernels, and compile them first where this machine has not yet.

    From then on, here and in later processes, problems of 200,000 labels or more use them, from
    the table to the answer. Without it, the first problem of 16 million labels compiles them.
    Takes some seconds the first time on a machine, under a second later.

    Returns
    -------
    bool
        Whether they can be used; False where numba (the extra `fast`) is not installed.
    """
    if not prepared.can_compile():
        return False
    task, worker, label = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1]], dtype=np.int32)
    prepared.encoded(np.array([3, 5, 3, 5]))
    for classes in (2, 2**40):  # labels as numbers of 32 bits, and of 64
        prepared.sorted_labels(task, worker, label, tasks=2, workers=2, classes=classes)
    x = np.ones(2)
    for width in (NARROW, WIDE):
        table = CountTable.empty(2, width)
        table.add(task, worker, label)
        pairs = CountedPairs(table, 2)
        pairs.pulls(x)
        pairs.cost(x)
        prepared.weighted_misses(pairs.entries.known, pairs.entries.targets.data, x)
    prepared.pulls_of_labels(task, worker, label, classes=2, x=x)
    prepared.text_codes(np.array([0, 1, 2]), np.frombuffer(b"ab", dtype=np.uint8))
    prepared.vote(task, worker, label, x, tasks=2, classes=2)
    prepared.here.append(True)
    return True
