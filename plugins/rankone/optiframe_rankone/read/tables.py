"""The tables of a crowd-label problem, checked and turned into codes.

Labels have the columns `task, worker, label`, one row for each (task, worker) pair, and may have a
`weight`; truth and gold have `task, label`. Ids are anything hashable. (True skills: `true_skills.py`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.tables.column_names import column_names
from optiframe.tables.ids import Ids, listed, locked
from optiframe.tables.read import Coded, Table, encode, headings, missing, read_table
from optiframe.tables.unused_columns import unused_columns
from optiframe_rankone.data import LabelTable, TruthTable
from optiframe_rankone.ids import Codes, exact_positions, fixed_codes, without_unused
from optiframe_rankone.kernels.labels import encode as encode_numbers
from optiframe_rankone.read import text
from optiframe_rankone.read.copies import share_votes
from optiframe_rankone.read.duplicates import Rows, one_row_each
from optiframe_rankone.read.id_checks import look_alike, refuse_infinite
from optiframe_rankone.read.weights import read_weights, without_zeros

_COLUMNS = ("task", "worker", "label", "weight", "truth", "gold", "skill")
_TABLES = ("labels", "truth", "gold")


def read_columns(value: Any) -> dict[str, str]:
    """Our column name -> the user's, as by `optiframe.tables.column_names.column_names`.

    Tables may be given one by one: ``{"labels": {"task": "picture"}, "truth": {"label": "answer"}}``.
    """
    if not isinstance(value, Mapping) or not any(isinstance(names, Mapping) for names in value.values()):
        return column_names(value, _COLUMNS)
    flat: dict[str, Any] = {}
    for key, names in value.items():
        if key in _TABLES and isinstance(names, Mapping):
            for column, yours in names.items():
                flat[str(column) if key == "labels" else _of_table(key, str(column))] = yours
        else:
            flat[key] = names
    return column_names(flat, (*_COLUMNS, "truth.task", "gold.task"))


def _of_table(table: str, column: str) -> str:
    """The key of a column of `truth` or `gold` in `columns`."""
    return table if column == "label" else f"{table}.{column}"


def read_labels(value: Any, info: ValidationInfo) -> LabelTable | None:
    """Labels from a data frame, a mapping of columns, or a CSV or Parquet file.

    Raises
    ------
    InvalidInput
        For whatever `read_table` and `read_weights` find, and for a worker who labels a task twice,
        naming the rows, where the policy `duplicates` refuses that.
    """
    table = value if isinstance(value, LabelTable) else _read_labels(value, info)
    return share_votes(table) if table is not None and info.data.get("copies") == "share" else table


def _read_labels(value: Any, info: ValidationInfo) -> LabelTable | None:
    columns, policy = info.data.get("columns"), info.data.get("duplicates")
    if columns is None or policy is None:  # wrong and reported; reading on would only add noise
        return None
    required = "task", "worker", "label"
    rename = {name: columns[name] for name in (*required, "weight") if name in columns}
    table = read_table(value, required, ("weight",), title="labels", rename=rename, coder=text.coded)
    coded = {name: encoded_column(table, name) for name in required}
    (task, task_ids), (worker, worker_ids), (label, label_ids) = coded.values()
    alike = {name: look_alike(table, name, coded[name][1]) for name in coded}
    rows, repeats = one_row_each(table, Rows(task, worker, label, read_weights(table)), policy)
    task, worker, label, weight = rows
    if repeats is not None and repeats.left_out:
        task, task_ids, no_tasks = without_unused(task, task_ids)
        worker, worker_ids, no_workers = without_unused(worker, worker_ids)
        label, label_ids, _ = without_unused(label, label_ids)
        repeats = replace(repeats, tasks=tuple(no_tasks.tolist()), workers=tuple(no_workers.tolist()))
    absent = () if "weight" in table or "weight" in columns else ("weight",)
    labels = LabelTable(
        task=task,
        worker=worker,
        label=label,
        task_ids=locked(task_ids),
        worker_ids=locked(worker_ids),
        label_ids=locked(label_ids),
        weight=weight,
        backend=table.backend,
        repeats=repeats,
        look_alike={name: ids for name, ids in alike.items() if ids},
        remarks=unused_columns(table.title, table.unused, absent, elsewhere=columns.values()),
    )
    return without_zeros(labels, table.title)


def encoded_column(table: Table, name: str) -> tuple[Codes, Ids]:
    """Codes and ids of a column of labels."""
    values = table.parts[name]
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return encode_numbers(np.ascontiguousarray(values))
    codes, ids = table.encoded(name, f"{table.title} {name}s")
    codes = fixed_codes(codes)
    if not isinstance(values, Coded):  # else all text
        refuse_infinite(table, name, codes, ids)
    return codes, ids


def read_truth(value: Any, info: ValidationInfo) -> TruthTable | None:
    """Truth or gold from a data frame, a mapping of columns, or a CSV or Parquet file.

    The field's name, `truth` or `gold`, is also the key for the name of the label column. A
    row without a label says that the truth of that task is not known. Rows that repeat a
    task are merged when they agree. Tasks that nobody labelled are left out and kept in
    `ignored`.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for two truths of one task (with their rows), and
        when no task of the truth, or none of its labels, occurs among the labels.
    """
    labels: LabelTable | None = info.data.get("labels")
    if value is None or isinstance(value, TruthTable):
        if value is not None and labels is not None:
            check_size(len(value.label), len(labels.task_ids), "tasks")
        return value
    columns = info.data.get("columns")
    if labels is None or columns is None:  # they were wrong and are reported
        return None
    what = str(info.field_name)
    rename = {
        "task": columns.get(f"{what}.task", columns.get("task", "task")),
        "label": columns.get(what, columns.get("label", "label")),
    }
    there = headings(value)  # a table with our own names needs no mapping, whatever the labels' table has
    rename |= {ours: ours for ours, theirs in rename.items() if theirs not in there and ours in there}
    table, task, task_ids, place = read_known(value, ("task", "label"), labels.task_ids, what, rename)
    rows = np.flatnonzero(~missing(table["label"]))
    label, label_ids = encode(table["label"][rows], f"{table.title} labels")
    refuse_infinite(table, "label", label, label_ids, rows)
    if len(rows) and (exact_positions(labels.label_ids, label_ids) < 0).all():
        raise InvalidInput(
            f"{table.title}: none of its labels was given by a worker "
            f"({_mismatch(label_ids, labels.label_ids)})"
        )
    _refuse_contradictions(table, rows, task[rows], label)
    truth = np.full(len(labels.task_ids), -1, dtype=np.int64)
    at = place[task[rows]]
    truth[at[at >= 0]] = label[at >= 0]
    return TruthTable(locked(truth), locked(label_ids), locked(task_ids[place < 0]))


def read_known(
    value: Any, columns: tuple[str, str], ours: Ids, title: str, rename: dict[str, str]
) -> tuple[Table, NDArray[np.int64], Ids, NDArray[np.int64]]:
    """A table of what is known of some tasks or workers, such as their true labels.

    Gives the table, in which what is known may be missing in some rows, the codes and ids of its first
    column, and where each id is in `ours`, -1 where it is not.
    """
    name, known = columns
    table = read_table(value, (name,), (known,), title=title, rename=rename)
    if known not in table:
        read_table(value, columns, title=title, rename=rename)  # says so in its words
    codes, ids = encode(table[name], f"{table.title} {name}s")
    refuse_infinite(table, name, codes, ids)
    place = exact_positions(ours, ids)
    if (place < 0).all():
        raise InvalidInput(
            f"{table.title}: none of its {len(ids)} {name}s occurs among the labels ({_mismatch(ids, ours)})"
        )
    return table, codes, ids, place


def check_size(known: int, here: int, what: str) -> None:
    """A table read once goes with the labels it was read for, as when a problem is copied with others."""
    if known != here:
        raise InvalidInput(
            f"was read for {known} {what}, the labels have {here}; give the table itself again"
        )


def _mismatch(theirs: Ids, ours: Ids) -> str:
    """Why ids of two tables do not meet: their kinds, or a few of each."""
    if _kind(theirs) != _kind(ours):
        here, there = theirs.tolist()[0], ours.tolist()[0]
        return f"these are {_kind(theirs)}, such as {here!r}; there they are {_kind(ours)}, such as {there!r}"
    return f"these are {listed(theirs)}; there they are {listed(ours)}"


def _kind(ids: Ids) -> str:
    """What sort of ids these are, in words."""
    if ids.dtype == np.int64:
        return "whole numbers"
    if ids.dtype == np.float64:
        return "decimal numbers"
    if ids.dtype == bool:
        return "true or false"
    found = {type(value) for value in ids.tolist()}
    if found == {str}:
        return "text"
    return "whole numbers" if found == {int} else "values of mixed type"


def refuse_contradictions(
    truth: NDArray[np.int64], gold: NDArray[np.int64], tasks: Ids, classes: Ids
) -> None:
    """Raise `InvalidInput` where truth and gold, as codes of `classes` or -1, name different labels."""
    wrong = np.flatnonzero((truth >= 0) & (gold >= 0) & (truth != gold))
    if len(wrong):
        one = int(wrong[0])
        raise InvalidInput(
            f"gold: task {tasks[one]} is {classes[gold[one]]} here and {classes[truth[one]]} in the truth"
            f"{f' ({len(wrong)} tasks differ so: {listed(tasks[wrong])})' if len(wrong) > 1 else ''}; "
            "keep the right label"
        )


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
