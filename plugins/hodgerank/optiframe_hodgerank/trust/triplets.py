"""Transitivity satisfaction rate: how often a over b and b over c goes with a over c."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.frames import to_frame
from optiframe_hodgerank.data import Source, comparisons_of
from optiframe_hodgerank.graph.comparison_graph import Codes

CHANCE = 0.75
"""Rate of answers given by tossing coins: of the eight ways to decide three pairs two are circles."""


@dataclass(frozen=True)
class Transitivity:
    """How consistent the decisions between pairs are.

    Parameters
    ----------
    triplets
        Three items with all three pairs compared and decided, where transitivity may apply.
    circular
        Those that go round: a over b, b over c, c over a.
    undecided
        Three items with all three pairs compared, one or more of them a tie. They are in no rate.
    """

    triplets: int
    circular: int
    undecided: int

    @property
    def rate(self) -> float:
        """Share of `triplets` that are transitive; nan when there is none. Coins give 0.75."""
        return 1 - self.circular / self.triplets if self.triplets else math.nan


def transitivity(source: Source) -> Transitivity:
    """Transitivity satisfaction rate of the majority (Sec. 2.1): each pair goes to who won more of it.

    A pair is decided by the weighted sum of its margins, and a tie where that is 0. Other than the
    paper has it ("only complete and balanced data") the rate is taken over the triplets that were
    compared, however many; what it cannot do is find the comparisons that are wrong.

    Time and memory are those of the product of two sparse matrices of items x items.
    """
    graph = comparisons_of(source).graph
    return _count(graph.items, graph.left, graph.right, graph.weight * graph.margin)


def worker_transitivity(source: Source) -> Any:
    """The same for each worker's own answers: a frame of the kind of the comparisons.

    Columns `worker, triplets, circular, undecided, rate`. Workers who compared no three items with
    each other have no rate (nan).

    Raises
    ------
    InvalidInput
        When no worker is known.
    """
    table = comparisons_of(source)
    if table.worker is None:
        raise InvalidInput("the comparisons have no column worker; give one to compare workers")
    pull = table.margin if table.weight is None else table.margin * table.weight
    order = np.argsort(table.worker, kind="stable")
    first = np.searchsorted(table.worker[order], np.arange(len(table.worker_ids) + 1))
    found = []
    for start, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        mine = order[start:end]
        codes, place = np.unique(np.concatenate([table.left[mine], table.right[mine]]), return_inverse=True)
        left, right = place[: len(mine)].astype(np.int64), place[len(mine) :].astype(np.int64)
        found.append(_count(len(codes), left, right, pull[mine]))
    columns = {
        "worker": table.worker_ids,
        "triplets": np.array([one.triplets for one in found]),
        "circular": np.array([one.circular for one in found]),
        "undecided": np.array([one.undecided for one in found]),
        "rate": np.array([one.rate for one in found]),
    }
    return to_frame(columns, table.backend)


def _count(items: int, left: Codes, right: Codes, pull: Array) -> Transitivity:
    """Triplets of the tournament in which each pair goes to the sign of its sum of `pull`."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    pair, place = np.unique(low * items + high, return_inverse=True)
    toward = np.where(left < right, pull, -pull)
    net = np.bincount(place, toward, len(pair))
    # Sums of weights such as 0.1 do not cancel exactly.
    net[np.abs(net) <= 1e-12 * np.bincount(place, np.abs(toward), len(pair))] = 0.0
    first, second = np.divmod(pair, items)
    decided = net != 0
    winner = np.where(net > 0, first, second)[decided]
    loser = np.where(net > 0, second, first)[decided]
    beats = _edges(items, winner, loser)
    strict = beats + beats.T
    compared = _edges(items, np.concatenate([first, second]), np.concatenate([second, first]))
    triplets = _closed_walks(strict) // 6
    return Transitivity(
        triplets=triplets,
        circular=_closed_walks(beats) // 3,
        undecided=_closed_walks(compared) // 6 - triplets,
    )


def _edges(items: int, tail: Codes, head: Codes) -> sp.csr_array:
    ones = np.ones(len(tail), dtype=np.int64)
    return sp.csr_array(sp.coo_array((ones, (tail, head)), shape=(items, items)))


def _closed_walks(edges: sp.csr_array) -> int:
    """Number of walks of three steps that end where they began: the trace of the cube."""
    return int((edges @ edges).multiply(edges.T).sum())
