"""What the adapters to ranking libraries share: comparisons in the forms they take, ties among them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.separation import separation

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Solver
from optiframe_peers.libraries import absent

_ITEMS = 10_000  # a matrix of 0.8 GB, and the libraries copy it
_WINS = 10_000_000  # as Python's numbers, 1 GB; and the libraries loop over them in Python


class Ranker(Solver[PairwiseRanking, Ranking, object]):
    """A method for who won, not for margins, by a library."""

    solves = PairwiseRanking
    dense: ClassVar[bool] = True
    """Whether the library makes a matrix of all pairs of items."""

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if problem.comparisons.graded:
            return "it needs who won (column label), not margins; hodge.l2 takes margins"
        items = len(problem.item_ids)
        if self.dense and items > _ITEMS:
            return f"the library makes dense matrices of {items} x {items}; it is taken up to {_ITEMS} items"
        return absent(self)

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        """The answer with log-odds as scores, which sum to zero within each component."""
        return problem.ranking(problem.graph.centred(iterate.x), scale="log-odds")


def infinite(problem: PairwiseRanking) -> str | None:
    """Why a likelihood without a prior has no maximum; None where it has one."""
    found = separation(problem.graph, problem.item_ids)
    return None if found is None else f"{found.text}, so their scores would be infinite"


def separate(problem: PairwiseRanking) -> str | None:
    """Why a method that follows wins through all items gets stuck; None where it does not."""
    if not problem.graph.connected:
        return "some items are not compared with the others, even by way of third ones"
    return infinite(problem)


def not_countable(problem: PairwiseRanking) -> str | None:
    """Why the comparisons cannot be written out one by one; None where they can."""
    weight = problem.comparisons.weight
    if weight is not None and not np.array_equal(weight, np.round(weight)):
        return "the library takes a list of wins, and weights are not whole numbers"
    wins = float(problem.merged.weight.sum())
    if wins > _WINS:
        return f"the library takes a list of wins, and {wins:g} are too many (up to {_WINS} are taken)"
    return None


def win_matrix(problem: PairwiseRanking) -> Array:
    """How often i beat j, a tie counting half for each, shape (items, items)."""
    rows = problem.merged
    wins = np.zeros((len(problem.item_ids),) * 2)
    np.add.at(wins, (rows.left, rows.right), rows.weight * (1.0 + rows.margin) / 2.0)
    np.add.at(wins, (rows.right, rows.left), rows.weight * (1.0 - rows.margin) / 2.0)
    return wins


def win_list(problem: PairwiseRanking) -> tuple[list[tuple[int, int]], int]:
    """Every win as (winner, loser), and how often each comparison is in it.

    Libraries without ties get every comparison twice where there are some: a win as two wins, a tie as
    one for each. That is half a win each, and changes no maximum of a likelihood; a prior's strength
    must be multiplied by the number returned.
    """
    rows = problem.merged
    copies = 2 if (rows.margin == 0).any() else 1
    found: list[tuple[int, int]] = []
    for one, other, sign in ((rows.left, rows.right, 1.0), (rows.right, rows.left, -1.0)):
        times = np.round(rows.weight * (1.0 + sign * rows.margin) / 2.0 * copies).astype(np.int64)
        found += zip(np.repeat(one, times).tolist(), np.repeat(other, times).tolist(), strict=True)
    return found, copies
