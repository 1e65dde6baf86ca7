"""Who answers which task how well, and the caps of an assignment: reading and checking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput, nearest
from optiframe.records.fields import Array, as_array
from optiframe.tables.column_names import column_names
from optiframe.tables.pairs import numbers
from optiframe.tables.read import read_table

Ids = NDArray[Any]

_COLUMNS = ("worker", "task", "quality")
_RATIO_ROUNDING = 1e-9  # so that .29 of 100 is 29, although .29 * 100 is a little less in float64


@dataclass(frozen=True, eq=False)
class QualityTable:
    """The chance that a worker answers a task rightly, for each pair.

    Parameters
    ----------
    quality
        Shape (workers, tasks), between 0 and 1; 0.5 where the pair is not known.
    known
        Which pairs were given, and so may be assigned; same shape.
    worker_ids, task_ids
        What rows and columns stand for.
    backend
        The data-frame library of the table, for the way out. Not content.
    """

    quality: Array
    known: NDArray[np.bool_]
    worker_ids: Ids
    task_ids: Ids
    backend: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<qualities of {len(self.worker_ids)} workers for {len(self.task_ids)} tasks>"


def read_columns(value: Any) -> dict[str, str]:
    """Our column name -> the user's."""
    return column_names(value, _COLUMNS)


def read_quality(value: Any, info: ValidationInfo) -> QualityTable | None:
    """Qualities from a table with a row for each pair, or from a matrix (workers x tasks).

    A matrix (an array, nested lists or an NPY file) numbers workers and tasks from 0.

    Raises
    ------
    InvalidInput
        For what `read_table` finds, a quality that is not strictly between 0 and 1, and a
        pair given twice, naming the rows.
    """
    if isinstance(value, QualityTable):
        return value
    columns = info.data.get("columns")
    if columns is None:  # wrong and reported; reading on would only add noise
        return None
    if _is_matrix(value):
        return _of_matrix(value)
    table = read_table(value, _COLUMNS, title="quality", rename=columns)
    worker, worker_ids = table.encoded("worker", f"{table.title} workers")
    task, task_ids = table.encoded("task", f"{table.title} tasks")
    given = numbers(table, "quality")
    wrong = np.flatnonzero((given <= 0) | (given >= 1))
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(f"{table.title} {table.places(wrong)}: {_not_a_quality(given[row])}")
    pair = worker.astype(np.int64) * len(task_ids) + task
    code, first = np.unique(pair, return_index=True)
    if len(code) < len(pair):
        again = np.setdiff1d(np.arange(len(pair)), first)
        row = int(again[0])
        raise InvalidInput(
            f"{table.title} {table.places(again)}: worker {worker_ids[worker[row]]} and task "
            f"{task_ids[task[row]]} are there already; keep one row for each pair"
        )
    quality = np.full((len(worker_ids), len(task_ids)), 0.5)
    known = np.zeros(quality.shape, dtype=bool)
    quality[worker, task], known[worker, task] = given, True
    return QualityTable(
        _locked(quality), _locked(known), _locked(worker_ids), _locked(task_ids), table.backend
    )


def _is_matrix(value: Any) -> bool:
    if isinstance(value, str | Path):
        return Path(value).suffix.lower() == ".npy"
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype.names is None)


def _of_matrix(value: Any) -> QualityTable:
    quality = as_array(value)
    if quality.ndim != 2 or not quality.size:
        raise InvalidInput(
            f"must be a table or a matrix with a row for each worker, got shape {quality.shape}"
        )
    wrong = np.argwhere((quality <= 0) | (quality >= 1))
    if len(wrong):
        i, j = (int(index) for index in wrong[0])
        raise InvalidInput(f"entry [{i}, {j}] (worker, task): {_not_a_quality(quality[i, j])}")
    workers, tasks = quality.shape
    known = _locked(np.ones(quality.shape, dtype=bool))
    return QualityTable(quality, known, _locked(np.arange(workers)), _locked(np.arange(tasks)))


def _not_a_quality(value: float) -> str:
    return (
        f"the quality is {value:g}; it must be above 0 and below 1 (a worker with r right answers of n test "
        "questions may count as (r + 1) / (n + 2))"
    )


def as_cap(value: Any) -> Any:
    """A cap as it may be written: a whole number, a ratio, a list, or a table by id; None: no cap."""
    if value is None or _is_count(value) or _is_ratio(value):
        return value
    if isinstance(value, Mapping):
        wrong = [key for key, cap in value.items() if not _is_count(cap)]
        if wrong:
            raise InvalidInput(f"the cap of {wrong[0]!r} is {value[wrong[0]]!r}; give a whole number >= 0")
        return {key: int(cap) for key, cap in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        caps = list(value)
        for at, cap in enumerate(caps):
            if not _is_count(cap):
                raise InvalidInput(f"cap number {at} is {cap!r}; give a whole number of at least 0")
        return tuple(int(cap) for cap in caps)
    raise InvalidInput(
        f"must be a whole number of at least 0, a ratio above 0 and up to 1 (with a decimal point), or "
        f"one whole number for each, got {value!r:.60}"
    )


def as_total(value: Any) -> Any:
    """The cap on the whole assignment: a whole number or a ratio; None: no cap."""
    if value is None or _is_count(value) or _is_ratio(value):
        return value
    raise InvalidInput(
        f"must be a whole number of at least 0, or a ratio above 0 and up to 1, got {value!r:.60}"
    )


def caps_of(cap: Any, ids: Ids, others: int, kind: str) -> NDArray[np.int64]:
    """The cap of each of `ids`; a ratio is that share of `others`, rounded down and at least 1.

    Raises
    ------
    InvalidInput
        When a list has another length, or a table by id misses one or has one there is not.
    """
    if cap is None:
        return np.full(len(ids), others, dtype=np.int64)
    if _is_ratio(cap):
        return np.full(len(ids), share_of(cap, others), dtype=np.int64)
    if isinstance(cap, tuple):
        if len(cap) != len(ids):
            raise InvalidInput(f"there are {len(cap)} caps for {len(ids)} {kind}s; give one for each")
        return np.array(cap, dtype=np.int64)
    if isinstance(cap, Mapping):
        return np.array(_by_id(cap, ids, kind, "cap"), dtype=np.int64)
    return np.full(len(ids), cap, dtype=np.int64)


def share_of(ratio: float, whole: int) -> int:
    """`ratio` of `whole`, rounded down and at least 1."""
    return max(1, int(ratio * whole + _RATIO_ROUNDING))


def as_prior(value: Any) -> Any:
    """Chances of answer 1: a number, one for each task, or a table by task id."""
    if isinstance(value, Mapping):
        given = {key: _chance(chance, f"the prior of {key!r}") for key, chance in value.items()}
        return given
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_chance(chance, f"prior number {at}") for at, chance in enumerate(value))
    return _chance(value, "the prior")


def priors_of(prior: Any, ids: Ids) -> Array:
    """The prior of each task; shape (tasks,)."""
    if isinstance(prior, Mapping):
        return np.array(_by_id(prior, ids, "task", "prior"))
    if isinstance(prior, tuple) and len(prior) != len(ids):
        raise InvalidInput(f"there are {len(prior)} priors for {len(ids)} tasks; give one for each")
    return np.array(np.broadcast_to(np.asarray(prior, dtype=np.float64), (len(ids),)))


def _by_id(given: Mapping[Any, Any], ids: Ids, kind: str, what: str) -> list[Any]:
    known = ids.tolist()
    table = dict(given)
    if table.keys().isdisjoint(known):  # keys of a TOML table are text; the ids may be numbers
        table = {str(key): value for key, value in given.items()}
        known = [str(one) for one in known]
    there = set(known)
    strange = [key for key in table if key not in there]
    if strange:
        raise InvalidInput(f"there is no {kind} {strange[0]!r}{nearest(str(strange[0]), map(str, known))}")
    absent = [one for one in known if one not in table]
    if absent:
        raise InvalidInput(f"{kind} {absent[0]!r} has no {what}; give one for each {kind}")
    return [table[one] for one in known]


def _chance(value: Any, what: str) -> float:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 < value < 1:
        raise InvalidInput(f"{what} is {value!r}; it must be a number above 0 and below 1")
    return float(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def _is_ratio(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(0 < value <= 1)


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
