"""Rows that repeat a (task, worker) pair: refused, merged or left out, as the policy says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.read import Table
from optiframe_rankone.data import Policy, Repeats
from optiframe_rankone.ids import Codes
from optiframe_rankone.kernels.labels import sort_labels

_GLANCE = 10_000  # rows


class Rows(NamedTuple):
    """Codes of rows, each of shape (rows,), and their weights, None where there are none."""

    task: Codes
    worker: Codes
    label: Codes
    weight: Array | None

    def at(self, rows: Codes) -> Rows:
        """Some of the rows."""
        codes = self.task[rows], self.worker[rows], self.label[rows]
        return Rows(*codes, None if self.weight is None else self.weight[rows])


def one_row_each(table: Table, rows: Rows, policy: Policy) -> tuple[Rows, Repeats | None]:
    """The rows that count, sorted by task and worker, and what was done about repeats.

    None for the latter where no pair has several rows.

    Parameters
    ----------
    table
        Where the rows come from, with the columns task, worker and label, for messages.
    rows
        Its rows as codes. A row that counts brings its weight.
    policy
        What to do with repeats.

    Raises
    ------
    InvalidInput
        Where the policy refuses repeats, or leaves no row at all.
    """
    task, worker, label, weight = rows
    if _in_order(task, worker):
        return rows, None
    sizes = int(task.max()) + 1, int(worker.max()) + 1
    by_task, by_worker, given = sort_labels(task, worker, label, *sizes)
    again = (by_task[1:] == by_task[:-1]) & (by_worker[1:] == by_worker[:-1])
    if weight is None and not again.any():
        return Rows(by_task, by_worker, given, None), None
    # The rows in that order, of equal pairs the earlier one first; they are sorted as labels are.
    sorted_rows = sort_labels(task, worker, np.arange(len(task), dtype=np.int32), *sizes)[2]
    if not again.any():
        return rows.at(sorted_rows), None
    fresh = np.concatenate([[True], ~again])
    if policy == "error":
        advice = "keep one row for each task and worker"
        raise _refusal(table, task, worker, sorted_rows[~fresh], how="again, first in", advice=advice)
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], len(sorted_rows)) - 1
    run = np.cumsum(fresh) - 1
    differs = given != given[first][run]
    wrong = np.unique(run[differs])
    chosen, kept = sorted_rows[last if policy == "last" else first], np.ones(len(first), dtype=bool)
    if policy == "agreeing" and len(wrong):
        how, advice = "otherwise than in", "keep the right row"
        raise _refusal(table, task, worker, sorted_rows[differs], how=how, advice=advice)
    if policy == "drop":
        kept[wrong] = False
    elif policy == "majority":
        for number in wrong:
            several = sorted_rows[first[number] : last[number] + 1]
            place = _most_frequent(label[several])
            if place is None:
                kept[number] = False
            else:
                chosen[number] = several[place]
    if not kept.any():
        raise InvalidInput(
            f"{table.title}: every task and worker has rows that disagree, so duplicates={policy!r} leaves "
            'no label; correct the rows, or use "first" or "last"'
        )
    gone = chosen[~kept]
    left_out = tuple(zip(table["task"][gone].tolist(), table["worker"][gone].tolist(), strict=True))
    return rows.at(chosen[kept]), Repeats(policy, int((last > first).sum()), len(wrong), left_out)


def _in_order(task: Codes, worker: Codes) -> bool:
    """Whether tasks rise, and workers within each task, so that nothing need be sorted."""
    for rows in (slice(_GLANCE), slice(None)):  # most tables that are not in order show it soon
        step = np.diff(task[rows])
        if not ((step > 0) | ((step == 0) & (np.diff(worker[rows]) > 0))).all():
            return False
    return True


def _most_frequent(labels: Codes) -> int | None:
    """Where the label that occurs most often first occurs; None where several occur equally often."""
    _, place, count = np.unique(labels, return_index=True, return_counts=True)
    best = np.flatnonzero(count == count.max())
    return int(place[best[0]]) if len(best) == 1 else None


def _refusal(
    table: Table,
    task: Codes,
    worker: Codes,
    wrong: NDArray[np.intp],
    *,
    how: str,
    advice: str,
) -> InvalidInput:
    """Names the earliest wrong row, the row it repeats, and how many more there are."""
    rows = np.sort(wrong)
    second = int(rows[0])
    first = int(np.flatnonzero((task == task[second]) & (worker == worker[second]))[0])
    more = f" ({len(rows)} rows repeat a pair: {table.places(rows.tolist())})" if len(rows) > 1 else ""
    return InvalidInput(
        f"{table.title} {table.place(second)}: worker {table['worker'][second]} labels task "
        f"{table['task'][second]} {how} {table.place(first)}{more}; "
        f"{advice}, or say with `duplicates` which of them counts"
    )
