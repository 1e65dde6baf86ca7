"""Which worker to ask for which pair, under caps: a choice in a three-view set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, MissingPackage
from optiframe.records.fields import Array
from optiframe.tables.columns import as_column
from optiframe.tables.ids import Ids, positions
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.trust.next_pairs import NextPair
from optiframe_hodgerank.trust.three_view import lacks_three_view, three_view


class Workers(NamedTuple):
    """Who may be asked.

    Parameters
    ----------
    ids
        Shape (workers,).
    code
        Of those who have voted, -1 of others, shape (workers,).
    worth
        What a vote of each tells, 1 of one who is always right, shape (workers,).
    """

    ids: Ids
    code: NDArray[np.int64]
    worth: Array


def workers_of(
    comparisons: Comparisons, wanted: Sequence[object] | None, reliability: Array | None
) -> Workers:
    """Those wanted, or all who have voted; `reliability` of these, 0.5 by guessing, or None.

    Raises
    ------
    InvalidInput
        Where nobody is named.
    """
    known = comparisons.worker_ids
    if wanted is None:
        if comparisons.worker is None or not len(known):
            raise InvalidInput(
                "per_worker needs to know whom to ask, and the comparisons name no worker; give workers, a "
                "list of ids"
            )
        ids = known
    else:
        ids = as_column(list(dict.fromkeys(wanted)))
        if not len(ids):
            raise InvalidInput("workers is an empty list; give ids, or leave it out for all who have voted")
    code = positions(known, ids) if len(known) else np.full(len(ids), -1, dtype=np.int64)
    worth = np.ones(len(ids))
    if reliability is not None and len(reliability):
        share = np.where(code >= 0, reliability[np.maximum(code, 0)], reliability.mean())
        worth = np.maximum(2 * share - 1, 0.0) ** 2  # a vote by chance tells nothing
    return Workers(ids, code, worth)


def assigned(
    comparisons: Comparisons, pairs: Sequence[NextPair], workers: Workers, n: int, per_worker: int
) -> list[tuple[NextPair, int]]:
    """At most n of the pairs with whom to ask, by place in `workers`, so that votes tell most in all.

    Nobody is asked for more than `per_worker` pairs, nor for a pair that they have compared. A pair that is
    there k times may be asked of k workers.

    Raises
    ------
    MissingPackage
        Without the plugin tvcs, whose set `three-view` has these caps.
    """
    lacks = lacks_three_view("workers and per_worker need")
    if lacks is not None:
        raise MissingPackage(lacks)
    places: dict[tuple[int, int], list[NextPair]] = {}
    for pair in pairs:
        places.setdefault((min(pair[:2]), max(pair[:2])), []).append(pair)
    finite = [pair.gain for pair in pairs if np.isfinite(pair.gain)]
    most = 10 * (sum(finite) or 1.0)  # what joins groups comes before all else
    gain = np.array([np.mean([min(one.gain, most) for one in same]) for same in places.values()])
    value = np.outer(gain, workers.worth) * ~_seen(comparisons, list(places), workers.code)
    at, who = np.nonzero(value > 0)
    if not len(at):
        return []
    counts = np.array([len(same) for same in places.values()])
    both = three_view(n, (who, per_worker), (at, counts))
    chosen = np.flatnonzero(both.project(np.sqrt(value[at, who])))  # it keeps the largest sum of squares
    left = [list(same) for same in places.values()]
    best = chosen[np.argsort(-value[at, who][chosen], kind="stable")]
    return [(left[at[element]].pop(0), int(who[element])) for element in best.tolist()]


def _seen(
    comparisons: Comparisons, pairs: list[tuple[int, int]], code: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a worker has compared a pair, shape (pairs, workers)."""
    seen = np.zeros((len(pairs), len(code)), dtype=bool)
    if comparisons.worker is None:
        return seen
    items, votes = len(comparisons.item_ids), comparisons
    low, high = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    done = np.unique((low * items + high) * (len(votes.worker_ids) + 1) + comparisons.worker)
    asked = np.array([i * items + j for i, j in pairs])
    key = asked[:, None] * (len(votes.worker_ids) + 1) + code[None, :]
    return np.isin(key, done) & (code >= 0)[None, :]
