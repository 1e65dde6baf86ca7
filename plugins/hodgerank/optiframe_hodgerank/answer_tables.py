"""Tables of an answer: the ranking, the comparisons taken for outliers, and what each worker did."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_hodgerank.answer import NORMAL_90, Ranking
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.trust import apart
from optiframe_hodgerank.trust.workers import count_workers


def ranking_table(comparisons: Comparisons, solution: Ranking) -> Columns:
    """The answer's own columns, and what a reader of a ranking asks next; best first.

    Columns `item, rank, score`; `low, high` where the answer has intervals; `component` where no chain of
    comparisons joins all items. With intervals also `rank_low, rank_high`, the ranks that cannot be ruled
    out, and `group` up to 100 items: items that share a letter cannot be told apart (see
    `optiframe_hodgerank.trust.apart`). Then `votes` on the item, of these `wins` and `ties`, and
    `win_rate`, the share of those that are no ties; all by weight.
    """
    best = solution.order
    errors = apart.difference_errors(comparisons, solution)
    table: dict[str, Any] = {**solution.columns(), **ranks_and_groups(solution, errors)}
    votes, wins, ties = (count[best] for count in item_votes(comparisons))
    decided = votes - ties
    win_rate = np.divide(wins, decided, out=np.full(len(best), np.nan), where=decided > 0)
    counts: dict[str, Any] = {"votes": votes, "wins": wins, "ties": ties}
    if comparisons.weight is None:
        counts = {name: count.astype(np.int64) for name, count in counts.items()}
    # No share of nothing.
    return {**table, **counts, "win_rate": win_rate if decided.all() else np.where(decided, win_rate, None)}


def ranks_and_groups(solution: Ranking, errors: Array | None) -> dict[str, Any]:
    """Columns `rank_low, rank_high` and `group`, best first; none without errors of differences."""
    if errors is None:
        return {}
    best = solution.order
    above = apart.surely_above(solution, errors, solution.level)
    low, high = apart.rank_intervals(above, solution.component)
    letters = apart.groups(above, solution)
    grouped = {} if letters is None else {"group": np.array(letters, dtype=object)[best]}
    return {"rank_low": low[best], "rank_high": high[best], **grouped}


def item_votes(comparisons: Comparisons) -> tuple[Array, Array, Array]:
    """Weight of the comparisons of each item, of those it won and of its ties, shape (items,) each."""
    rows, items = comparisons.merged, len(comparisons.item_ids)

    def total(left: Any, right: Any) -> Array:
        of_left = np.bincount(rows.left, rows.weight * left, items)
        return np.asarray(of_left + np.bincount(rows.right, rows.weight * right, items), dtype=np.float64)

    won, lost, tied = rows.margin > 0, rows.margin < 0, rows.margin == 0
    return total(1.0, 1.0), total(won, lost), total(tied, tied)


def outlier_table(comparisons: Comparisons, solution: Ranking) -> Columns:
    """The comparisons taken for outliers, in order of entry.

    Columns `row` (from 0; of a file `line` too), `worker` where known, `left, right, margin`,
    `outlier` (the part of the margin taken for wrong) and `strength`.
    """
    rows = solution.flagged
    columns: dict[str, Any] = {"row": rows}
    if comparisons.lines is not None:
        columns["line"] = np.asarray(comparisons.lines, dtype=np.int64)[rows]
    if comparisons.worker is not None:
        code = comparisons.worker[rows]
        worker = comparisons.worker_ids[code].astype(object)
        worker[code < 0] = None
        columns["worker"] = worker
    columns |= {
        "left": comparisons.item_ids[comparisons.left[rows]],
        "right": comparisons.item_ids[comparisons.right[rows]],
        "margin": comparisons.margin[rows],
    }
    if solution.outliers is not None:
        columns["outlier"] = solution.outliers[rows]
    if solution.strength is not None:
        columns["strength"] = solution.strength[rows]
    return columns


def worker_table(comparisons: Comparisons, solution: Ranking) -> Columns:
    """What each worker did; no columns when no worker is known.

    Columns `worker, comparisons`; `outliers, rate, rate_low, rate_high` (90% intervals, Wilson's)
    where the method names outliers; `contradictions` (decided comparisons whose winner has the lower
    score), `contradiction_rate`, `left_share` (of the decided), and `remark`, which names workers
    who contradict the ranking or click on one side (see `optiframe_hodgerank.trust.workers`).
    """
    counts = count_workers(comparisons, solution)
    if counts is None:
        return {}
    columns: dict[str, Any] = {
        "worker": comparisons.worker_ids,
        "comparisons": counts.comparisons,
    }
    if counts.outliers is not None:
        low, high = wilson(counts.outliers, counts.comparisons)
        rate = counts.outliers / counts.comparisons
        columns |= {"outliers": counts.outliers, "rate": rate, "rate_low": low, "rate_high": high}
    return columns | {
        "contradictions": counts.contradictions,
        "contradiction_rate": counts.contradiction_rate,
        "left_share": counts.left_share,
        "remark": counts.remarks,
    }


def wilson(hits: Any, count: Any) -> tuple[Array, Array]:
    """Wilson's 90% interval of a share, which stays within [0, 1] and is right for few rows."""
    z = NORMAL_90 * NORMAL_90 / count
    middle = (hits / count + z / 2) / (1 + z)
    share = hits / count
    half = np.sqrt(z * (share * (1 - share) + z / 4)) / (1 + z)
    # With no hits, or nothing else, one end is 0 or 1 but for rounding.
    low = np.where(share > 0, np.maximum(middle - half, 0.0), 0.0)
    return low, np.where(share < 1, np.minimum(middle + half, 1.0), 1.0)
