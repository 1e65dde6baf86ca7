"""Rows that repeat a (task, worker) pair: refused, merged or left out, as the policy says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.read import Table
from optiframe_rankone.data import Policy, Repeats
from optiframe_rankone.ids import Codes
from optiframe_rankone.kernels.labels import sort_labels

_GLANCE = 10_000  # rows


def one_row_each(
    table: Table, task: Codes, worker: Codes, label: Codes, policy: Policy
) -> tuple[tuple[Codes, Codes, Codes], Repeats | None]:
    """Codes of the rows that count, sorted by task and worker, and what was done about repeats.

    None for the latter where no pair has several rows.

    Parameters
    ----------
    table
        Where the rows come from, with the columns task, worker and label, for messages.
    task, worker, label
        Codes, shape (rows,).
    policy
        What to do with repeats.

    Raises
    ------
    InvalidInput
        Where the policy refuses repeats, or leaves no row at all.
    """
    if _in_order(task, worker):
        return (task, worker, label), None
    sizes = int(task.max()) + 1, int(worker.max()) + 1
    by_task, by_worker, given = sort_labels(task, worker, label, *sizes)
    again = (by_task[1:] == by_task[:-1]) & (by_worker[1:] == by_worker[:-1])
    if not again.any():
        return (by_task, by_worker, given), None
    # The rows in that order, of equal pairs the earlier one first; they are sorted as labels are.
    sorted_rows = sort_labels(task, worker, np.arange(len(task), dtype=np.int32), *sizes)[2]
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
            rows = sorted_rows[first[number] : last[number] + 1]
            place = _most_frequent(label[rows])
            if place is None:
                kept[number] = False
            else:
                chosen[number] = rows[place]
    if not kept.any():
        raise InvalidInput(
            f"{table.title}: every task and worker has rows that disagree, so duplicates={policy!r} leaves "
            'no label; correct the rows, or use "first" or "last"'
        )
    gone = chosen[~kept]
    left_out = tuple(zip(table["task"][gone].tolist(), table["worker"][gone].tolist(), strict=True))
    rows = chosen[kept]
    repeats = Repeats(policy, int((last > first).sum()), len(wrong), left_out)
    return (task[rows], worker[rows], label[rows]), repeats


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
