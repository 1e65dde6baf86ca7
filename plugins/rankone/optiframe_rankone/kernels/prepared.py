"""The compiled way from a table of labels to its answer, where this machine has it.

`prepare` compiles it; without that nobody waits for a compiler before 16 million labels. Each
function here has a twin that needs no compiler, named in its docstring, and gives its numbers.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import require
from optiframe.records.fields import Array
from optiframe_rankone.ids import Codes

_WORTH_LOADING, _WORTH_PREPARING = 200_000, 16_000_000
"""Labels from which the compiled kernels are used: where this machine has compiled them before, which
costs a new process some .2 s once, and where it has not. Compiling takes some seconds, which so many
labels save."""
_KERNELS = {
    "compiled_tables": ("crowded_codes", "pack_labels", "unpack_labels", "task_pulls", "vote"),
    "compiled_text": ("text_codes", "sort_keys"),
    "compiled_pairs": (
        "count_pairs",
        "pairs_met",
        "fill_rows",
        "table_products",
        "table_misses",
        "misses",
    ),
}
_CROWDED = 4  # numbers in the span of an id column for each row, as in `frames.encode`

here: list[bool] = []  # not empty once this process has prepared


def ready_for(labels: int) -> bool:
    """Whether the compiled kernels are to be used for so many labels.

    Not for few, not where nothing is compiled yet (but for very many), not without numba.
    """
    if labels >= 2**31:  # codes are 32 bits wide
        return False
    if labels >= _WORTH_PREPARING or (labels >= _WORTH_LOADING and (bool(here) or _left_by_another())):
        return can_compile()
    return False


@cache
def _left_by_another() -> bool:
    """Whether an earlier process left compiled kernels, newer than their source, beside this package."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return False  # they would be somewhere else: only `prepare` knows
    tag = f"py{sys.version_info.major}{sys.version_info.minor}"
    for module, names in _KERNELS.items():
        source = Path(__file__).with_name(f"{module}.py")
        if not source.exists():
            return False
        written, folder = source.stat().st_mtime, source.parent / "__pycache__"
        for name in names:
            left = folder.glob(f"{module}.{name}-*.{tag}*.nbi")
            if not any(index.stat().st_mtime >= written for index in left):
                return False
    return True


@cache
def can_compile() -> bool:
    """Whether numba is installed, and for this version of NumPy."""
    try:
        import_module("optiframe_rankone.kernels.compiling")
    except ImportError:
        return False
    return True


@cache
def kernels(module: str) -> Any:
    """A module of kernels, by its name in this package."""
    require("numba", "fast")
    return import_module(f"optiframe_rankone.kernels.{module}")


def fixed(array: Any, kind: Any = np.uint32) -> NDArray[Any]:
    """A read-only view of one type, so that a kernel is compiled once; codes become unsigned."""
    if kind is np.uint32:
        array = np.asarray(array, dtype=np.int32).view(np.uint32)
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
    kernels("compiled_tables").crowded_codes(fixed(values, np.int64), least, place, codes)
    return codes, np.flatnonzero(place) + least


def text_codes(
    start: NDArray[np.integer[Any]], letters: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]:
    """Codes of texts by first appearance, where each first appears, and keys in the order of those.

    The texts lie in ``letters``, from each entry of ``start`` up to the next, shape (texts + 1,). Two
    keys are equal where eight letters do not tell their texts apart.
    """
    module, texts = kernels("compiled_text"), (fixed(start, np.int64), fixed(letters, np.uint8))
    codes, first = np.empty((2, len(start) - 1), dtype=np.int32)
    first = first[: module.text_codes(*texts, codes, first)].copy()
    keys = np.empty(len(first), dtype=np.uint64)
    module.sort_keys(*texts, first, keys)
    return codes, first, keys


class SortedLabels(NamedTuple):
    """Labels in order of task and then worker, int32, and how many each task and each worker has."""

    task: NDArray[np.int32]
    worker: NDArray[np.int32]
    label: NDArray[np.int32]
    per_task: NDArray[np.int64]
    per_worker: NDArray[np.int64]


def sorted_labels(
    task: Codes, worker: Codes, label: Codes, *, tasks: int, workers: int, classes: int
) -> SortedLabels | None:
    """Labels in order; None where a pair occurs twice, or codes have more than 63 bits together.

    Each label becomes one whole number, and NumPy sorts those many at a time, as fast as the
    processor's vector instructions do. Memory 20 bytes a label, 8 more where the codes have more
    than 32 bits together. Twin: `passes.order`.
    """
    of_task, of_worker, of_label = ((count - 1).bit_length() for count in (tasks, workers, classes))
    bits = of_task + of_worker + of_label
    if bits > 63:
        return None
    module, count = kernels("compiled_tables"), len(task)
    packed = np.empty(count, dtype=np.uint32 if bits <= 32 else np.int64)
    module.pack_labels(fixed(task), fixed(worker), fixed(label), of_worker, of_label, packed)
    packed.sort()
    columns = [np.empty(count, dtype=np.int32) for _ in range(3)]
    per_task, per_worker = np.zeros(tasks, dtype=np.int64), np.zeros(workers, dtype=np.int64)
    found = SortedLabels(columns[0], columns[1], columns[2], per_task, per_worker)
    twice = module.unpack_labels(packed, of_worker, of_label, *found)
    return None if twice else found


def weighted_misses(known: Any, targets: Array, x: Array) -> float:
    """Sum of N_ij (C_ij - x_i x_j)^2 over the stored entries of a CSR array N. Twin: `EntryPairs.cost`."""
    pattern = fixed(known.indptr), fixed(known.indices)
    values = (fixed(each, np.float64) for each in (known.data, targets, x))
    return float(kernels("compiled_pairs").misses(*pattern, *values))


def pulls_of_labels(
    task: Codes, worker: Codes, label: Codes, *, classes: int, x: Array
) -> tuple[Array, Array]:
    """Pull of each label, sorted by task, and curvature of each worker. Twin: `trust.intervals`' own."""
    pull = np.empty(len(task))
    return pull, _pulls(task, worker, label, classes, x, pull)[:, 0]


def spread_of_pulls(
    task: Codes, worker: Codes, label: Codes, *, classes: int, x: Array, count: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Of each worker's pulls the squared distances to their mean, summed, and the worker's curvature.

    ``count`` is the number of labels of each worker, at least 1, shape (workers,).
    Squares minus the mean's, which rounds to 1e-8 of the root of the squares: where the pulls
    hardly vary, the error if the truth were known is above that. Twin: `trust.intervals`' own.
    """
    curvature, total, squares = _pulls(task, worker, label, classes, x, np.empty(0)).T
    return np.maximum(squares - total**2 / count, 0.0), curvature


def _pulls(task: Codes, worker: Codes, label: Codes, classes: int, x: Array, pull: Array) -> Array:  # noqa: PLR0917
    sums = np.zeros((len(x), 3))
    codes = (fixed(each) for each in (task, worker, label))
    kernels("compiled_tables").task_pulls(*codes, classes, fixed(x, np.float64), pull, sums)
    return sums


def vote(task: Codes, worker: Codes, label: Codes, weight: Array, *, tasks: int, classes: int) -> Array:
    """What `passes.vote` gives, which is its twin."""
    scores = np.zeros(tasks * classes)
    codes = (fixed(each) for each in (task, worker, label))
    kernels("compiled_tables").vote(*codes, fixed(weight, np.float64), classes, scores)
    return scores.reshape(tasks, classes)
