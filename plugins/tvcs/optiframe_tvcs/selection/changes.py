"""What would change a choice: one more unit of a bound, another value of an item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csgraph

from optiframe.records.fields import Array
from optiframe_tvcs.selection.data import Counted, Counts, ItemTable, Mask
from optiframe_tvcs.selection.relaxation import Relaxation

_SOURCE, _SINK = 0, 1
_PAIRS = 700  # groups up to which all distances between them are computed: 0.3 s, and 4 MB a matrix
_NEAREST = 10  # items of each kind for which a program is solved again


@dataclass(frozen=True, eq=False)
class Changes:
    """What would change a choice, exactly; None where it was not computed. Arrays of Python numbers.

    Parameters
    ----------
    one_more
        What the best choice gains when an upper bound rises by one, shape (counts,).
    one_less
        What it gains when a lower bound falls by one, shape (counts,).
    margins
        For an item not chosen, by how much its value must rise until it belongs to a best choice (inf: it
        fits in no choice); for a chosen one, by how much its value may fall until a best choice does
        without it. None for fixed and forbidden items. Shape (items,).
    freed
        What the best choice gains when an item is no longer fixed or forbidden; 0 for all others.
    least_margins
        What `margins` are at least, also where they were not computed; None without the program.
    tried
        Items for which a program was to be solved again, so that time alone can keep their numbers from being
        computed; None without the program. Shape (items,).
    stopped
        Whether the user stopped before all was computed.
    """

    one_more: NDArray[Any]
    one_less: NDArray[Any]
    margins: NDArray[Any]
    freed: NDArray[Any]
    least_margins: NDArray[Any] | None = None
    tried: Mask | None = field(default=None, kw_only=True)
    stopped: bool = field(default=False, kw_only=True)

    def divided(self, by: float) -> Changes:
        """The same in other units."""
        parts = (self.one_more, self.one_less, self.margins, self.freed)
        least = None if self.least_margins is None else _objects(floats(self.least_margins) / by)
        more, less, margins, freed = (_objects(floats(part) / by) for part in parts)
        return Changes(more, less, margins, freed, least, tried=self.tried, stopped=self.stopped)


def floats(column: NDArray[Any]) -> Array:
    """Numbers of `Changes` for calculating, nan where there is None."""
    return column.astype(np.float64)


def _objects(values: Array) -> NDArray[Any]:
    column = (values + 0.0).astype(object)
    column[np.isnan(values)] = None
    return column


def changes_by_exchanges(
    items: ItemTable, counts: Counts, worths: Array, chosen: Mask, *, fixed: Mask, forbidden: Mask
) -> Changes | None:
    """The changes for at most two views, from the exchanges that the bounds leave open.

    A choice is a flow from the first view's groups to the second's. Exchanges of items are circles in the
    graph of groups; a choice is best when no circle gains, and a bound that rises by one opens one more
    arc, so that what it is worth is the best circle over that arc (Ahuja, Magnanti, Orlin 1993, Sec. 9.3).
    Worths are whole numbers, so nothing is rounded. With more than 700 groups `margins` and `freed` are nan.

    Returns
    -------
    None where an exchange gains: then the choice is not the best.
    """
    graph = _Exchanges(items, counts, worths, chosen, fixed | forbidden)
    try:
        distances = graph.distances()
    except csgraph.NegativeCycleError:
        return None
    used = counts.used(chosen)
    one_more, one_less = np.zeros(len(counts)), np.zeros(len(counts))
    full, spent = used == counts.upper, (used == counts.lower) & counts.demands
    tails, heads = graph.count_tails, graph.count_heads
    one_more[full] = np.maximum(-distances(heads[full], tails[full]), 0.0)
    one_less[spent] = np.maximum(-distances(tails[spent], heads[spent]), 0.0)
    margins, freed = np.full(len(items), np.nan), np.where(fixed | forbidden, np.nan, 0.0)
    if distances.all_pairs:
        into = distances(graph.item_heads, graph.item_tails) - worths
        out = distances(graph.item_tails, graph.item_heads) + worths
        margins = np.where(chosen, out, into)
        freed = np.where(fixed | forbidden, np.maximum(-margins, 0.0), 0.0)
        margins = np.maximum(margins, 0.0)
        margins[fixed | forbidden] = np.nan
    return Changes(*map(_objects, (one_more, one_less, margins, freed)))


class _Distances:
    """Lengths of shortest paths; from and to source and sink alone where there are many groups."""

    def __init__(self, arcs: sp.csr_array) -> None:
        self.all_pairs = arcs.shape[0] <= _PAIRS
        if self.all_pairs:
            self._whole = csgraph.floyd_warshall(arcs)
        else:
            self._from = csgraph.johnson(arcs, indices=[_SOURCE, _SINK])
            self._to = csgraph.johnson(arcs.T.tocsr(), indices=[_SOURCE, _SINK])

    def __call__(self, tails: NDArray[np.intp], heads: NDArray[np.intp]) -> Array:
        if self.all_pairs:
            return np.asarray(self._whole[tails, heads])
        ahead = tails <= _SINK
        found = np.empty(len(tails))
        found[ahead] = self._from[tails[ahead], heads[ahead]]
        found[~ahead] = self._to[heads[~ahead], tails[~ahead]]
        return found


class _Exchanges:
    """The graph of groups with an arc for each item that can go in or out, and for each bound with room."""

    def __init__(self, items: ItemTable, counts: Counts, worths: Array, chosen: Mask, settled: Mask) -> None:
        # Source -> groups of the first view -> (items) -> groups of the second view -> sink -> source.
        first = items.views[0] if items.views else None
        second = items.views[1] if len(items.views) > 1 else None
        size = 0 if first is None else len(first.groups)
        rows, columns = np.arange(2, 2 + size), np.arange(2 + size, 1 + len(counts))
        self.item_tails = np.full(len(items), _SOURCE) if first is None else rows[first.codes[:, 0]]
        self.item_heads = np.full(len(items), _SINK) if second is None else columns[second.codes[:, 0]]
        self.count_tails = np.concatenate([[_SINK], np.full(size, _SOURCE), columns])
        self.count_heads = np.concatenate([[_SOURCE], rows, np.full(len(columns), _SINK)])
        self._nodes = 1 + len(counts)
        used = counts.used(chosen)
        room, spare = used < counts.upper, used > counts.lower
        enter, leave = ~chosen & ~settled, chosen & ~settled
        self._tails = np.concatenate(
            [self.item_tails[enter], self.item_heads[leave], self.count_tails[room], self.count_heads[spare]]
        )
        self._heads = np.concatenate(
            [self.item_heads[enter], self.item_tails[leave], self.count_heads[room], self.count_tails[spare]]
        )
        nothing = np.zeros(np.count_nonzero(room) + np.count_nonzero(spare))
        self._lengths = np.concatenate([-worths[enter], worths[leave], nothing])

    def distances(self) -> _Distances:
        # Of several arcs between two groups the shortest counts.
        place = self._tails * self._nodes + self._heads
        order = np.lexsort((self._lengths, place))
        first = order[np.unique(place[order], return_index=True)[1]]
        shape = (self._nodes, self._nodes)
        where = (self._tails[first], self._heads[first])
        return _Distances(sp.csr_array((self._lengths[first], where), shape=shape))


Again = Callable[[Counts, Mask, Mask], float | None]
"""The worth of the best choice within other bounds and with other items that must and may be in.

-inf where there is no choice, None where it is not known.
"""


def changes_by_solving(
    items: ItemTable,
    counts: Counts,
    worths: Array,
    chosen: Mask,
    *,
    fixed: Mask,
    forbidden: Mask,
    relaxed: Relaxation,
    again: Again,
    seconds: float,
) -> Changes:
    """The changes by solving again for each bound that is used up, for a few items, and for all other bounds.

    Not for bounds that gain nothing by the prices in `relaxed`, nor for items whose margin those prices and
    an exchange of like items agree on. The items are 10 fixed and 10 forbidden ones, and of those left out
    and of those chosen the 10 whose worth may be nearest to where they change sides, by
    `relaxed.least_margins`; of equal ones those of the largest worth left out, and of the smallest chosen.
    After `seconds` nothing further is tried, and the rest is nan.
    """
    best, end, used = float(worths[chosen].sum()), perf_counter() + seconds, counts.used(chosen)
    size = len(worths)

    def gain(changed: Counts, least: Mask, most: Mask) -> float:
        found = None if perf_counter() > end else again(changed, least, most)
        return np.nan if found is None else found - best

    one_more, one_less = np.zeros(len(counts)), np.zeros(len(counts))

    def price_bounds(full: Mask, spent: Mask) -> None:
        for at in np.flatnonzero(full & counts.limits & (relaxed.most_more > 0)).tolist():
            changed = counts.with_bounds(counts.lower, _moved(counts.upper, at, 1))
            one_more[at] = gain(changed, fixed, ~forbidden)
        for at in np.flatnonzero(spent & counts.demands & (relaxed.most_less > 0)).tolist():
            changed = counts.with_bounds(_moved(counts.lower, at, -1), counts.upper)
            one_less[at] = gain(changed, fixed, ~forbidden)

    full, spent = used == counts.upper, used == counts.lower
    price_bounds(full, spent)
    freed = np.where(fixed | forbidden, np.nan, 0.0)
    one = np.arange(size)
    released = [np.flatnonzero(marked)[:_NEAREST] for marked in (fixed, forbidden)]
    for at in np.concatenate(released).tolist():
        freed[at] = gain(counts, fixed & (one != at), ~forbidden | (one == at))
    free, least_margins = ~(fixed | forbidden), relaxed.least_margins
    exchanged = _margins_of_like_items(items, counts, worths, chosen, free)
    margins = np.where(free & (exchanged <= least_margins), least_margins, np.nan)
    order = np.lexsort((np.where(chosen, worths, -worths), least_margins))
    order = order[(free & np.isnan(margins))[order]]
    entering, leaving = order[~chosen[order]][:_NEAREST], order[chosen[order]][:_NEAREST]
    for at in entering.tolist():
        margins[at] = -gain(counts, fixed | (one == at), ~forbidden)
    for at in leaving.tolist():
        margins[at] = -gain(counts, fixed, ~forbidden & (one != at))
    # A best choice of whole numbers may use more of a bound that this one leaves room in.
    price_bounds(~full, ~spent)
    # None loses or gains, but for what HiGHS tolerates.
    found = (one_more, one_less, margins, freed, least_margins)
    tried = np.isin(one, np.concatenate([*released, entering, leaving]))
    return Changes(*(_objects(np.maximum(part, 0.0)) for part in found), tried=tried)


def _margins_of_like_items(
    items: ItemTable, counts: Counts, worths: Array, chosen: Mask, free: Mask
) -> Array:
    """What margins are at most: by an exchange with an item of the same groups, or with none.

    Parameters
    ----------
    items, counts, worths, chosen
        As for `changes_by_solving`, shape (items,).
    free
        Items that are neither fixed nor forbidden, shape (items,).

    Returns
    -------
    Shape (items,); inf where there is no such exchange.
    """
    groups = [np.sort(view.codes, axis=1) for view in items.views]
    alike = np.unique(np.hstack(groups), axis=0, return_inverse=True)[1].reshape(-1)
    leaving, coming = chosen & free, ~chosen & free
    least, most = np.full(len(items), np.inf), np.full(len(items), -np.inf)  # of each kind
    np.minimum.at(least, alike[leaving], worths[leaving])
    np.maximum.at(most, alike[coming], worths[coming])
    used = counts.used(chosen)
    stuck = np.where(
        chosen, counts.matrix.T @ (used == counts.lower), counts.matrix.T @ (used == counts.upper)
    )
    alone = np.where(stuck > 0, np.inf, np.where(chosen, worths, -worths))
    return np.minimum(alone, np.where(chosen, worths - most[alike], least[alike] - worths))


def _moved(bounds: Counted, at: int, step: int) -> Counted:
    changed = bounds.copy()
    changed[at] += step
    return changed
