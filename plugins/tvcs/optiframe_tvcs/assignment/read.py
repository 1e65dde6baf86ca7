"""Qualities and priors of an assignment: reading and checking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array, as_array
from optiframe.tables.frames import with_index
from optiframe.tables.ids import Ids, locked, positions
from optiframe.tables.matrix import is_matrix, read_matrix
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import Table, headings, read_table
from optiframe.tables.remarks import remarks_on
from optiframe_tvcs.assignment.data import QualityTable
from optiframe_tvcs.sets.caps import by_id, without_index

COLUMNS = ("worker", "task", "quality")


def read_quality(value: Any, info: ValidationInfo) -> QualityTable | None:
    """Qualities from a table with a row for each pair, or from a matrix (workers x tasks).

    A matrix (an array, nested lists or an NPY file) numbers workers and tasks from 0. One in a table has
    the ids of one side in its first column, which is called as that side, and those of the other as headings.

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
    table, every = _in_rows(value, columns)
    worker, worker_ids = table.encoded("worker", f"{table.title} workers")
    task, task_ids = table.encoded("task", f"{table.title} tasks")
    if every:
        worker_ids, task_ids = every["worker"], every["task"]
        worker, task = positions(worker_ids, table["worker"]), positions(task_ids, table["task"])
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
    remarks = remarks_on(table, {"worker": worker_ids, "task": task_ids})
    return QualityTable(
        locked(quality), locked(known), locked(worker_ids), locked(task_ids), table.backend, remarks
    )


def _in_rows(value: Any, columns: Mapping[str, str]) -> tuple[Table, Mapping[str, Ids]]:
    """A table with a row for each pair, by our names; and of a matrix the ids of all workers and tasks."""
    ours = {columns.get(name, name): name for name in COLUMNS}
    worker, task, quality = ours if len(ours) == len(COLUMNS) else COLUMNS
    value = with_index(value, ours)
    if not is_matrix(headings(value), (worker, task), quality):
        return read_table(value, COLUMNS, title="quality", rename=columns), {}
    table, every = read_matrix(value, (worker, task), quality, title="quality")
    parts = {ours[name]: part for name, part in table.parts.items()}
    return replace(table, parts=parts), {ours[name]: ids for name, ids in every.items()}


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
    known = locked(np.ones(quality.shape, dtype=bool))
    return QualityTable(quality, known, locked(np.arange(workers)), locked(np.arange(tasks)))


def _not_a_quality(value: float) -> str:
    advice = (
        "a worker with r right answers of n test questions may count as (r + 1) / (n + 2)"
        if value in (0, 1)
        else "divide percentages by 100"
        if value > 1
        else "it is a chance"
    )
    return f"the quality is {value:g}; it must be above 0 and below 1 ({advice})"


def as_prior(value: Any) -> Any:
    """Chances of answer 1: a number, one for each task, or a table by task id."""
    value = without_index(value)
    if isinstance(value, Mapping):
        return {key: _chance(chance, f"the prior of {key!r}") for key, chance in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_chance(chance, f"prior number {at}") for at, chance in enumerate(value))
    return _chance(value, "the prior")


def priors_of(prior: Any, ids: Ids) -> Array:
    """The prior of each task; shape (tasks,)."""
    if isinstance(prior, Mapping):
        return np.array(by_id(prior, ids, "task", "prior"))
    if isinstance(prior, tuple) and len(prior) != len(ids):
        raise InvalidInput(f"there are {len(prior)} priors for {len(ids)} tasks; give one for each")
    return np.array(np.broadcast_to(np.asarray(prior, dtype=np.float64), (len(ids),)))


def _chance(value: Any, what: str) -> float:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 < value < 1:
        raise InvalidInput(f"{what} is {value!r}; it must be a number above 0 and below 1")
    return float(value)
