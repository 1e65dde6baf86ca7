"""The compiled way from a table of labels to pairs of workers, where this machine has it.

`prepare` compiles it; without that nobody waits for a compiler before 16 million labels. Each
function here has a twin that needs no compiler, named in its docstring, and gives its numbers.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.values import Array
from optiframe_rankone.ids import Codes

_WORTH_LOADING, _WORTH_PREPARING = 200_000, 16_000_000
"""Labels from which the compiled kernels are used: where this machine has compiled them before, which
costs a new process some .2 s once, and where it has not. Compiling takes some seconds, which so many
labels save."""
_KERNELS = (
    "crowded_codes",
    "sort_labels",
    "count_pairs",
    "pairs_met",
    "fill_rows",
    "misses",
    "task_pulls",
    "centred_squares",
    "vote",
)
_CROWDED = 4  # numbers in the span of an id column for each row, as in `frames.encode`


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
    if _compiled() is None:
        return False
    task, worker, label = (_fixed(np.array(codes)) for codes in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1]))
    encoded(np.array([3, 5, 3, 5]))
    sorted_labels(task, worker, label, tasks=2, workers=2)
    for kind in (np.uint32, np.uint64):
        shared, agreed = _counted(task, worker, label, 2, kind)
    weighted_misses(shared, agreed, np.ones(2))
    pull, _ = pulls_of_labels(task, worker, label, classes=2, x=np.ones(2))
    centred_squares(worker, pull, 2)
    vote(task, worker, label, np.ones(2), tasks=2, classes=2)
    _here.append(True)
    return True


_here: list[bool] = []  # not empty once this process has prepared


def ready_for(labels: int) -> bool:
    """Whether the compiled kernels are to be used for so many labels.

    Not for few, not where nothing is compiled yet (but for very many), not without numba.
    """
    if labels >= 2**31:  # codes are 32 bits wide
        return False
    if labels >= _WORTH_PREPARING or (labels >= _WORTH_LOADING and (bool(_here) or _left_by_another())):
        return _compiled() is not None
    return False


@cache
def _left_by_another() -> bool:
    """Whether an earlier process left compiled kernels, newer than their source, beside this package."""
    source = Path(__file__).with_name("compiled_tables.py")
    folder, tag = source.parent / "__pycache__", f"py{sys.version_info.major}{sys.version_info.minor}"
    if "NUMBA_CACHE_DIR" in os.environ or not source.exists():
        return False  # they would be somewhere else: only `prepare` knows
    written = source.stat().st_mtime
    return all(
        any(index.stat().st_mtime >= written for index in folder.glob(f"compiled_tables.{name}-*.{tag}*.nbi"))
        for name in _KERNELS
    )


@cache
def _compiled() -> Any:
    """The module of kernels; None where numba is not installed, or not for this version of NumPy."""
    try:
        return import_module("optiframe_rankone.compiled_tables")
    except ImportError:
        return None


def _fixed(array: Any, kind: Any = np.int32) -> NDArray[Any]:
    """A read-only view of one type, so that a kernel is compiled once."""
    view = np.ascontiguousarray(array, dtype=kind).view()
    view.flags.writeable = False
    return view


def encoded(values: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """Codes and ids of whole numbers; None where they are too far apart. Twin: `frames.encode`."""
    least = int(values.min())
    span = int(values.max()) - least + 1
    if span > _CROWDED * len(values):
        return None
    place, codes = np.zeros(span, dtype=np.int32), np.empty(len(values), dtype=np.int32)
    _compiled().crowded_codes(_fixed(values, np.int64), least, place, codes)
    return codes, np.flatnonzero(place) + least


def sorted_labels(
    task: Codes, worker: Codes, label: Codes, *, tasks: int, workers: int
) -> tuple[Codes, Codes, Codes] | None:
    """Codes in order of task and then worker, int32; None where a pair occurs twice.

    Time linear in labels, tasks and workers; memory 20 bytes a label. Twin: `kernels.order`.
    """
    by_task, by_worker, by_label = (np.empty(len(task), dtype=np.int32) for _ in range(3))
    codes, packed = [_fixed(each) for each in (task, worker, label)], np.empty(len(task), dtype=np.int64)
    twice = _compiled().sort_labels(*codes, tasks, workers, packed, by_task, by_worker, by_label)
    return None if twice else (by_task, by_worker, by_label)


def co_occurrence(task: Codes, worker: Codes, label: Codes, workers: int) -> tuple[sp.csr_array, Array]:
    """What `kernels.co_occurrence` gives, which is its twin; 2 or 4 bytes for each pair of workers,
    ordered, while counting."""
    # Two counters side by side in one number: no pair shares more tasks than its workers have.
    narrow = int(np.bincount(worker).max(initial=0)) < 2**16
    return _counted(task, worker, label, workers, np.uint32 if narrow else np.uint64)


def _counted(
    task: Codes, worker: Codes, label: Codes, workers: int, kind: type[Any]
) -> tuple[sp.csr_array, Array]:
    shift, module = 4 * np.dtype(kind).itemsize, _compiled()
    table = np.zeros(workers * (workers - 1) // 2, dtype=kind)
    module.count_pairs(_fixed(task), _fixed(worker), _fixed(label), table, kind(1 << shift))
    start = np.zeros(workers + 1, dtype=np.int32)
    module.pairs_met(table, start)
    stored = int(start[-1])
    columns, shared, agreed = np.empty(stored, dtype=np.int32), np.empty(stored), np.empty(stored)
    module.fill_rows(table, kind(shift), start, columns, shared, agreed)
    return sp.csr_array((shared, columns, start), shape=(workers, workers)), agreed


def weighted_misses(known: sp.csr_array, targets: Array, x: Array) -> float:
    """Sum of N_ij (C_ij - x_i x_j)^2 over the stored entries of N. Twin: `EntryPairs.cost`."""
    pattern = _fixed(known.indptr), _fixed(known.indices)
    values = (_fixed(each, np.float64) for each in (known.data, targets, x))
    return float(_compiled().misses(*pattern, *values))


def pulls_of_labels(
    task: Codes, worker: Codes, label: Codes, *, classes: int, x: Array
) -> tuple[Array, Array]:
    """Pull of each label, sorted by task, and curvature of each worker. Twin: `uncertainty`'s own."""
    pull, curvature = np.empty(len(task)), np.zeros(len(x))
    codes = (_fixed(each) for each in (task, worker, label))
    _compiled().task_pulls(*codes, classes, _fixed(x, np.float64), pull, curvature)
    return pull, curvature


def centred_squares(worker: Codes, values: Array, workers: int) -> Array:
    """Sum over a worker's labels of the squared distance to the worker's mean, shape (workers,)."""
    return np.asarray(_compiled().centred_squares(_fixed(worker), _fixed(values, np.float64), workers))


def vote(task: Codes, worker: Codes, label: Codes, weight: Array, *, tasks: int, classes: int) -> Array:
    """What `kernels.vote` gives, which is its twin."""
    scores = np.zeros(tasks * classes)
    codes = (_fixed(each) for each in (task, worker, label))
    _compiled().vote(*codes, _fixed(weight, np.float64), classes, scores)
    return scores.reshape(tasks, classes)
