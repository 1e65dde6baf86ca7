"""The trust report of rankings: whether they can be believed, in words naming users and items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.tables.ids import Ids, listed
from optiframe_manifold.data import ChoiceTable
from optiframe_manifold.low_rank import LowRank


@dataclass(frozen=True)
class Pairs:
    """The merged rows in an order in which those of one user and pair of items stand together.

    `start` is where in `order` each pair begins, `user` whose it is.
    """

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    user: NDArray[np.int64]

    @classmethod
    def of(cls, table: ChoiceTable) -> Pairs:
        """Sort by user, then by pair."""
        rows, user = table.choices, table.choices.user
        low, high = np.minimum(rows.winner, rows.loser), np.maximum(rows.winner, rows.loser)
        pair = low * np.int64(len(table.item_ids)) + high
        order = np.lexsort((pair, user))
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (np.diff(pair[order]) != 0) | (np.diff(user[order]) != 0)
        start = np.flatnonzero(fresh)
        return cls(order, start, user[order[start]])


def report(table: ChoiceTable, factors: LowRank, *, rank: int, penalized: bool) -> Iterator[Finding]:
    """Every finding: on users, on items, on the comparisons as a whole, then on the model.

    Parameters
    ----------
    table
        The comparisons.
    factors
        The scores found.
    rank
        That they may have.
    penalized
        Whether a penalty keeps them finite.
    """
    pairs = Pairs.of(table)
    yield from table.remarks
    shared = bool((factors.left == factors.left[0]).all())
    yield from silent_users(table, rank, shared=shared)
    yield from contradicting_users(table, pairs)
    yield from never_compared(table)
    yield from apart(table)
    yield from ties(table)
    yield from merged(table)
    yield from too_high_rank(table.shape, rank, pairs)
    if not penalized:
        yield unbounded()
    yield from alike(factors)
    yield shift()


def silent_users(table: ChoiceTable, rank: int, *, shared: bool = False) -> Iterator[Finding]:
    """Users with no comparison, with one, and with fewer than the numbers to be found for each.

    Where all have the `shared` ranking, only those with none: nobody's is made of their own comparisons.
    """
    count = np.bincount(table.user, minlength=len(table.user_ids))
    none, one = table.user_ids[count == 0], table.user_ids[count == 1]
    if len(none):
        yield _about(
            none,
            "warning",
            f"{_users(none)} without a comparison: {listed(none)}; nothing is known of their taste, "
            "and they are given the ranking of all users' comparisons together",
            identifier="collaborative.user-without-comparisons",
        )
    if shared:
        return
    if len(one):
        yield _about(
            one,
            "warning",
            f"{_users(one)} with a single comparison: {listed(one)}; but for the one pair, their "
            "rankings come from others who chose alike",
            identifier="collaborative.user-with-one-comparison",
        )
    few = table.user_ids[(count > 1) & (count < rank)]
    if len(few):
        yield _about(
            few,
            "note",
            f"{_users(few)} with fewer comparisons than the rank {rank}: {listed(few)}; that many "
            "numbers are to be found for each, so that the penalty decides some",
            identifier="collaborative.user-with-few-comparisons",
        )


def contradicting_users(table: ChoiceTable, pairs: Pairs) -> Iterator[Finding]:
    """Users who chose either item of each of their pairs equally often, ties aside."""
    rows, order, start = table.choices, pairs.order, pairs.start
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight[order]
    sign = np.where(rows.winner[order] < rows.loser[order], weight, -weight)
    balance, size = np.add.reduceat(sign, start), np.add.reduceat(weight, start)
    # Sums of weights that are equal but for rounding cancel.
    undecided = np.abs(balance) <= 1e-12 * size
    decided = np.bincount(pairs.user, ~undecided, len(table.user_ids)) > 0
    chose = np.bincount(table.user[table.outcome != 0], minlength=len(table.user_ids)) > 0
    ids = table.user_ids[chose & ~decided]
    if len(ids):
        yield _about(
            ids,
            "warning",
            f"{_users(ids)} whose choices cancel: {listed(ids)}; of each of their pairs either item was "
            "chosen equally often, which tells no preference",
            identifier="collaborative.user-with-cancelling-choices",
        )


def never_compared(table: ChoiceTable) -> Iterator[Finding]:
    """Items that nobody compared with anything."""
    ids = table.item_ids[~table.compared]
    if len(ids):
        yield _about(
            ids,
            "warning",
            f"{len(ids)} item{'s' if len(ids) > 1 else ''} never compared: {listed(ids)}; they are put at "
            "the average of the others, which says nothing of them",
            identifier="collaborative.never-compared-item",
        )


def apart(table: ChoiceTable) -> Iterator[Finding]:
    """Items that no chain of comparisons, by whomever, joins.

    All right factors of one group can be moved by a common vector without a change of any
    comparison and of the rank, so that for no user is it known how groups stand to each other.
    """
    rows, items = table.choices, len(table.item_ids)
    graph = sp.coo_array((np.ones(len(rows)), (rows.winner, rows.loser)), shape=(items, items))
    group = connected_components(graph.tocsr(), directed=False)[1]
    group = group[table.compared]
    count = np.bincount(group)
    if (count > 0).sum() < 2:
        return
    others = table.item_ids[table.compared][group != int(count.argmax())]
    yield _about(
        others,
        "warning",
        f"the comparisons fall into {int((count > 0).sum())} groups of items with none between them: how "
        f"items of one rank against those of another is determined by the penalty; outside the largest: "
        f"{listed(others)}",
        identifier="collaborative.disconnected-items",
    )


def ties(table: ChoiceTable) -> Iterator[Finding]:
    """How many of the comparisons are ties; an empty label, which is one, may be a slip."""
    number, rows = int((table.outcome == 0).sum()), len(table)
    if number == rows:
        text = "all comparisons are ties: there is nothing to rank by"
        yield Finding("warning", text, identifier="collaborative.all-ties")
    elif number:
        share = percent(number / rows)
        which = "comparisons is a tie" if number == 1 else "comparisons are ties"
        text = f"{number} of {rows} {which} ({share}; an empty label is one), half a win for each side"
        yield Finding("note", text, identifier="collaborative.ties")


def merged(table: ChoiceTable) -> Iterator[Finding]:
    """Equal comparisons of one user that were merged, and ties that were split."""
    rows, ties = len(table), int((table.outcome == 0).sum())
    if len(table.choices) < rows + ties:
        yield Finding(
            "note",
            f"merged {rows} comparisons into {len(table.choices)} distinct ones of each user"
            f"{', a tie as half a win for each side' if ties else ''}; the result is unaffected",
            identifier="collaborative.merged-comparisons",
        )


def too_high_rank(shape: tuple[int, int], rank: int, pairs: Pairs) -> Iterator[Finding]:
    """More numbers to be found than there are different comparisons."""
    users, items = shape
    number = len(pairs.start)
    free = freedom(users, items, rank)
    if free > number:
        supported = max((r for r in range(1, rank) if freedom(users, items, r) <= number), default=0)
        advice = (
            f"the data could support a rank of {supported} at most"
            if supported
            else "even rank 1 is more than they support"
        )
        yield Finding(
            "warning",
            f"the data do not determine the whole answer: a matrix of rank {rank} has {free} numbers to be "
            f"found, and only {number} different pairs were compared; {advice}. The penalty determines the "
            "rest. Lower the rank, or collect more comparisons",
            identifier="collaborative.rank-beyond-data",
        )


def freedom(users: int, items: int, rank: int) -> int:
    """Dimension of the row-centred matrices of this rank: r (m + n - 1 - r)."""
    rank = min(rank, items - 1)  # centred rows span no more
    return rank * (users + items - 1 - rank)


def unbounded() -> Finding:
    """Nothing keeps the scores finite."""
    return Finding(
        "note",
        "the size of scores may mean little: without a penalty the likelihood may have no maximum, and "
        "scores of a user whose choices do not contradict each other grow without end; set a penalty",
        identifier="collaborative.no-penalty",
    )


def alike(factors: LowRank) -> Iterator[Finding]:
    """All scores of everybody are equal."""
    if not (np.abs(factors.left).max() > 0 and np.ptp(factors.right, axis=0).max() > 0):
        text = "all scores are equal: nothing is ranked"
        yield Finding("warning", text, identifier="collaborative.equal-scores")


def shift() -> Finding:
    """What no comparison can show."""
    return Finding(
        "note",
        "a constant added to all scores of one user changes no comparison: scores are relative to the "
        "user's average item, and cannot be compared between users",
        identifier="collaborative.scores-relative-to-user",
    )


def _users(ids: Ids) -> str:
    return f"{len(ids)} user{'s' if len(ids) > 1 else ''}"


def _about(ids: Ids, level: Literal["note", "warning"], text: str, *, identifier: str) -> Finding:
    return Finding(level, text, tuple(ids.tolist()), identifier=identifier)
