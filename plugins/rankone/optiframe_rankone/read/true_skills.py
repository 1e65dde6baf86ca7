"""The table of true skills, for generated data: columns `worker, skill`."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, locked
from optiframe.tables.number_columns import as_number
from optiframe.tables.read import Table, missing
from optiframe_rankone.data import LabelTable, SkillTable
from optiframe_rankone.read.tables import check_size, read_known


def read_skills(value: Any, info: ValidationInfo) -> SkillTable | None:
    """True skills from a data frame, a mapping of columns, or a CSV or Parquet file.

    A row without a skill says that it is not known. Rows that repeat a worker are merged
    when they agree. Workers without labels are left out and kept in `ignored`.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for a skill that is not a number from -1 to 1, for
        two skills of one worker, and when no worker occurs among the labels.
    """
    labels: LabelTable | None = info.data.get("labels")
    if value is None or isinstance(value, SkillTable):
        if value is not None and labels is not None:
            check_size(len(value.skill), len(labels.worker_ids), "workers")
        return value
    columns = info.data.get("columns")
    if labels is None or columns is None:  # they were wrong and are reported
        return None
    rename = {name: columns[name] for name in ("worker", "skill") if name in columns}
    table, worker, worker_ids, place = read_known(
        value, ("worker", "skill"), labels.worker_ids, "skills", rename
    )
    skill = np.full(len(worker_ids), np.nan)
    for row in np.flatnonzero(~missing(table["skill"])).tolist():
        found, known = _skill(table, row), skill[worker[row]]
        if not np.isnan(known) and known != found:
            raise InvalidInput(
                f"{table.title} {table.place(row)}: worker {table['worker'][row]} has the skill {found:g} "
                f"here and {known:g} before; keep the right one"
            )
        skill[worker[row]] = found
    here = np.full(len(labels.worker_ids), np.nan)
    here[place[place >= 0]] = skill[place >= 0]
    return SkillTable(locked(here), locked(worker_ids[place < 0]))


def _skill(table: Table, row: int) -> float:
    """One skill; text from a file is read as a number."""
    value = table["skill"][row]
    skill = as_number(value)
    if not -1.0 <= skill <= 1.0:
        raise InvalidInput(
            f"{table.title} {table.place(row)}: the skill of worker {table['worker'][row]} is {value!s}; "
            "a skill is a number from -1 (always wrong) to 1 (always right)"
        )
    return skill


def refuse_low_skills(skills: Array | None, workers: Ids, classes: int) -> None:
    """Raise `InvalidInput` for a skill below -1/(M-1): not even always wrong gives it (Lemma 7)."""
    if skills is None:
        return
    least = -1.0 / (classes - 1)
    low = np.flatnonzero(skills < least - 1e-9)  # room for a rounded file
    if len(low):
        raise InvalidInput(
            f"skills: the skill of worker {workers[low[0]]} is {skills[low[0]]:g}; with {classes} classes "
            f"a worker who is always wrong has {number(least, 6)}"
        )
