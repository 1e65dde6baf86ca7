"""The two tables of a crowd-label problem, checked and turned into codes.

Labels have the columns `task, worker, label`, one row for each (task, worker) pair; the
truth has `task, label`. Ids are anything hashable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput, nearest
from optiframe.frames import Table, encode, missing, read_table
from optiframe_rankone.ids import Codes, Ids, kind, listed, positions

_COLUMNS = ("task", "worker", "label", "truth")


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels as codes, sorted by task and then by worker.

    Parameters
    ----------
    task, worker, label
        Codes, shape (labels,), into the three id tables; read-only.
    task_ids, worker_ids, label_ids
        What the codes stand for. Every id occurs in some row.
    backend
        The data-frame library the labels came from, for the way out. Not content.
    """

    task: Codes
    worker: Codes
    label: Codes
    task_ids: Ids
    worker_ids: Ids
    label_ids: Ids
    backend: str | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        return (
            f"<{len(self)} labels of {len(self.task_ids)} tasks by {len(self.worker_ids)} workers, "
            f"{len(self.label_ids)} values>"
        )


@dataclass(frozen=True, eq=False)
class TruthTable:
    """Known true labels of some tasks.

    Parameters
    ----------
    label
        Codes, shape (tasks,), into `label_ids`; -1 where the truth is not known.
    label_ids
        The labels that occur in the truth.
    ignored
        Tasks of the truth that nobody labelled.
    """

    label: NDArray[np.int64]
    label_ids: Ids
    ignored: Ids

    def __repr__(self) -> str:
        return f"<truth of {int((self.label >= 0).sum())} tasks>"


def read_columns(value: Any) -> dict[str, str]:
    """Our column name -> the user's.

    Raises
    ------
    InvalidInput
        When it is not a mapping of text to text, or maps a column there is not.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"must be a table of our column name to yours, got {value!r}")
    for ours, yours in value.items():
        if ours not in _COLUMNS:
            raise InvalidInput(
                f"unknown column {ours!r}{nearest(str(ours), _COLUMNS)} "
                f"(columns that can be mapped: {', '.join(_COLUMNS)})"
            )
        if not isinstance(yours, str):
            raise InvalidInput(f"the name of column {ours} must be text, got {yours!r}")
    return dict(value)


def read_labels(value: Any, info: ValidationInfo) -> LabelTable | None:
    """Labels from a data frame, a mapping of columns, or a CSV or Parquet file.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, and for a worker who labels a task twice, naming
        the rows.
    """
    if isinstance(value, LabelTable):
        return value
    columns = info.data.get("columns")
    if columns is None:  # it was wrong and is reported; reading on would only add noise
        return None
    rename = {name: columns[name] for name in ("task", "worker", "label") if name in columns}
    table = read_table(value, ("task", "worker", "label"), title="labels", rename=rename)
    task, task_ids = encode(table["task"], f"{table.title} tasks")
    worker, worker_ids = encode(table["worker"], f"{table.title} workers")
    label, label_ids = encode(table["label"], f"{table.title} labels")
    pair = task * len(worker_ids) + worker
    order = np.argsort(pair, kind="stable")  # stable: of two equal pairs the earlier row comes first
    _refuse_duplicates(table, pair, order)
    code = np.int32 if len(table) < 2**31 else np.int64  # half the memory for all but huge data
    return LabelTable(
        task=_locked(task[order].astype(code)),
        worker=_locked(worker[order].astype(code)),
        label=_locked(label[order].astype(code)),
        task_ids=_locked(task_ids),
        worker_ids=_locked(worker_ids),
        label_ids=_locked(label_ids),
        backend=table.backend,
    )


def _refuse_duplicates(table: Table, pair: NDArray[np.int64], order: NDArray[np.intp]) -> None:
    again = np.flatnonzero(pair[order][1:] == pair[order][:-1]) + 1
    if len(again) == 0:
        return
    again = again[np.argsort(order[again])]  # the earliest in the table first
    first, second = int(order[again[0] - 1]), int(order[again[0]])
    rows = order[again].tolist()
    more = f" ({len(rows)} rows repeat a pair: {table.places(rows)})" if len(rows) > 1 else ""
    raise InvalidInput(
        f"{table.title} {table.place(second)}: worker {table['worker'][second]} labels task "
        f"{table['task'][second]} again, first in {table.place(first)}{more}; "
        "keep one row for each task and worker"
    )


def read_truth(value: Any, info: ValidationInfo) -> TruthTable | None:
    """The truth from a data frame, a mapping of columns, or a CSV or Parquet file.

    A row without a label says that the truth of that task is not known. Rows that repeat
    a task are merged when they agree. Tasks that nobody labelled are left out and kept in
    `ignored`.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for two truths of one task (with their rows), and
        when no task of the truth, or none of its labels, occurs among the labels.
    """
    if value is None or isinstance(value, TruthTable):
        return value
    labels: LabelTable | None = info.data.get("labels")
    columns = info.data.get("columns")
    if labels is None or columns is None:  # they were wrong and are reported
        return None
    rename = {"task": columns.get("task", "task")}
    rename["label"] = columns.get("truth", columns.get("label", "label"))
    table = read_table(value, ("task",), ("label",), title="truth", rename=rename)
    if "label" not in table.columns:
        read_table(value, ("task", "label"), title="truth", rename=rename)  # says so in its words
    task, task_ids = encode(table["task"], f"{table.title} tasks")
    place = positions(labels.task_ids, task_ids)
    if (place < 0).all():
        raise InvalidInput(
            f"{table.title}: none of its {len(task_ids)} tasks occurs among the labels "
            f"({_mismatch(task_ids, labels.task_ids)})"
        )
    rows = np.flatnonzero(~missing(table["label"]))
    label, label_ids = encode(table["label"][rows], f"{table.title} labels")
    if len(rows) and (positions(labels.label_ids, label_ids) < 0).all():
        raise InvalidInput(
            f"{table.title}: none of its labels was given by a worker "
            f"({_mismatch(label_ids, labels.label_ids)})"
        )
    _refuse_contradictions(table, rows, task[rows], label)
    truth = np.full(len(labels.task_ids), -1, dtype=np.int64)
    at = place[task[rows]]
    truth[at[at >= 0]] = label[at >= 0]
    return TruthTable(_locked(truth), _locked(label_ids), _locked(task_ids[place < 0]))


def _mismatch(theirs: Ids, ours: Ids) -> str:
    if kind(theirs) != kind(ours):
        here, there = theirs.tolist()[0], ours.tolist()[0]
        return f"these are {kind(theirs)}, such as {here!r}; there they are {kind(ours)}, such as {there!r}"
    return f"these are {listed(theirs)}; there they are {listed(ours)}"


def _refuse_contradictions(
    table: Table, rows: NDArray[np.intp], task: NDArray[np.int64], label: NDArray[np.int64]
) -> None:
    order = np.argsort(task, kind="stable")
    task, label, rows = task[order], label[order], rows[order]
    wrong = np.flatnonzero((task[1:] == task[:-1]) & (label[1:] != label[:-1]))
    if len(wrong):
        first, second = int(rows[wrong[0]]), int(rows[wrong[0] + 1])
        values = table["label"]
        raise InvalidInput(
            f"{table.title} {table.place(second)}: the truth of task {table['task'][second]} is "
            f"{values[second]} here and {values[first]} in {table.place(first)}; keep the right one"
        )


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
