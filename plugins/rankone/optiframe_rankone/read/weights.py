"""The weights of labels: how many times each counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, locked
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import Table
from optiframe_rankone.data import LabelTable
from optiframe_rankone.ids import about, without_unused

_PARTS = ("task", "worker", "label")
_LEAST, _MOST = 1e-6, 1e9
"""Weights between which sums of them decide: votes closer than 1e-12 of the largest, or of 1, are ties."""


def read_weights(table: Table) -> Array | None:
    """The column `weight` of a table, shape (rows,); None without it.

    Raises
    ------
    InvalidInput
        For a weight that is no number, below 0, or above 0 and beyond 1e-6 and 1e9, naming the rows.
    """
    if "weight" not in table:
        return None
    weight = numbers(table, "weight")
    wrong = np.flatnonzero((weight != 0) & ~((weight >= _LEAST) & (weight <= _MOST)))
    if len(wrong):
        row = int(wrong[0])
        more = f" ({len(wrong)} such rows: {table.places(wrong.tolist())})" if len(wrong) > 1 else ""
        raise InvalidInput(
            f"{table.title} {table.place(row)}: the weight is {weight[row]:g}; it says how many times the "
            f"label counts, 0 or between {_LEAST:g} and {_MOST:g}{more}"
        )
    return weight


def without_zeros(labels: LabelTable, title: str) -> LabelTable:
    """The labels without those of weight 0, and with what is to be said of weights.

    Raises
    ------
    InvalidInput
        When all weights are 0.
    """
    weight = labels.weight
    if weight is None:
        return labels
    kept = np.flatnonzero(weight > 0)
    if not len(kept):
        raise InvalidInput(f"{title}: every weight is 0, so no label counts")
    parts = {name: (getattr(labels, name)[kept], getattr(labels, f"{name}_ids")) for name in _PARTS}
    task, worker, label = (without_unused(*part) for part in parts.values())
    return replace(
        labels,
        task=task[0],
        worker=worker[0],
        label=label[0],
        task_ids=locked(task[1]),
        worker_ids=locked(worker[1]),
        label_ids=locked(label[1]),
        weight=weight[kept],
        remarks=(*labels.remarks, *_remarks(title, weight, {"task": task[2], "worker": worker[2]})),
    )


def _remarks(title: str, weight: Array, lost: dict[str, Ids]) -> Iterator[Finding]:
    """That weights were read, and whose labels all have weight 0."""
    counted = weight[weight > 0]
    zero = len(weight) - len(counted)
    none = f"; {zero} label{'' if zero == 1 else 's'} of weight 0 left out" if zero else ""
    yield Finding(
        "note",
        f"{title}: each label counts as many times as its weight says, from {number(counted.min())} to "
        f"{number(counted.max())}{none}. To count each once, leave the column out: "
        'columns = { weight = "" }',
        identifier="labels.weighted",
    )
    for what, ids in lost.items():
        text = "without any label left, so not in the answer"
        yield from about("warning", what, ids, text, identifier="labels.no-label-left")
