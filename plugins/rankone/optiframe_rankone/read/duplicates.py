"""Rows that repeat a (task, worker) pair: refused, merged or left out, as the policy says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.read import Table
from optiframe_rankone.data import Policy, Repeats
from optiframe_rankone.kernels import passes


def one_row_each(
    table: Table, pair: NDArray[np.int64], label: NDArray[np.int64], policy: Policy
) -> tuple[NDArray[np.intp], Repeats | None]:
    """The rows that count, sorted by pair, and what was done about repeats (None: there were none).

    Parameters
    ----------
    table
        Where the rows come from, with the columns task, worker and label, for messages.
    pair, label
        Codes of the (task, worker) pair and of the label, shape (rows,).
    policy
        What to do with repeats.

    Raises
    ------
    InvalidInput
        Where the policy refuses repeats, or leaves no row at all.
    """
    order = passes.order(pair)  # stable: of two equal pairs the earlier row comes first
    fresh = np.ones(len(order), dtype=bool)
    ordered = pair[order]
    fresh[1:] = ordered[1:] != ordered[:-1]
    if fresh.all():
        return order, None
    if policy == "error":
        advice = "keep one row for each task and worker"
        raise _refusal(table, pair, order[~fresh], how="again, first in", advice=advice)
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], len(order)) - 1
    run = np.cumsum(fresh) - 1
    differs = label[order] != label[order][first][run]
    wrong = np.unique(run[differs])
    chosen, kept = order[last if policy == "last" else first], np.ones(len(first), dtype=bool)
    if policy == "agreeing" and len(wrong):
        raise _refusal(table, pair, order[differs], how="otherwise than in", advice="keep the right row")
    if policy == "drop":
        kept[wrong] = False
    elif policy == "majority":
        for number in wrong:
            rows = order[first[number] : last[number] + 1]
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
    return chosen[kept], Repeats(policy, int((last > first).sum()), len(wrong), left_out)


def _most_frequent(labels: NDArray[np.int64]) -> int | None:
    """Where the label that occurs most often first occurs; None where several occur equally often."""
    _, place, count = np.unique(labels, return_index=True, return_counts=True)
    best = np.flatnonzero(count == count.max())
    return int(place[best[0]]) if len(best) == 1 else None


def _refusal(
    table: Table,
    pair: NDArray[np.int64],
    wrong: NDArray[np.intp],
    *,
    how: str,
    advice: str,
) -> InvalidInput:
    """Names the earliest wrong row, the row it repeats, and how many more there are."""
    rows = np.sort(wrong)
    second = int(rows[0])
    first = int(np.flatnonzero(pair == pair[second])[0])
    more = f" ({len(rows)} rows repeat a pair: {table.places(rows.tolist())})" if len(rows) > 1 else ""
    return InvalidInput(
        f"{table.title} {table.place(second)}: worker {table['worker'][second]} labels task "
        f"{table['task'][second]} {how} {table.place(first)}{more}; "
        f"{advice}, or say with `duplicates` which of them counts"
    )
