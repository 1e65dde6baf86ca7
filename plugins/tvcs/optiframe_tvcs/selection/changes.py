"""What would change a choice: one more unit of a bound, another value of an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csgraph

from optiframe.records.fields import Array
from optiframe_tvcs.selection.data import Counted, Counts, ItemTable, Mask
from optiframe_tvcs.selection.relaxation import Relaxation

_SOURCE, _SINK = 0, 1
_PAIRS = 700  # groups up to which all distances between them are computed: 0.3 s, and 4 MB a matrix
_STEPS = 20_000_000  # groups of the smaller view, times arcs, up to which distances to them are: 4 s, 80 MB
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
    Worths are whole numbers, so nothing is rounded. With many groups in both views `margins` and `freed` are
    nan.

    Returns
    -------
    None where an exchange gains: then the choice is not the best.
    """
    graph = _Exchanges(items, counts, worths, chosen, fixed | forbidden)
    try:
        distances = graph.distances()
    except _ExchangeGainsError:
        return None
    used = counts.used(chosen)
    one_more, one_less = np.zeros(len(counts)), np.zeros(len(counts))
    full, spent = used == counts.upper, (used == counts.lower) & counts.demands
    tails, heads = graph.count_tails, graph.count_heads
    one_more[full] = np.maximum(-distances(heads[full], tails[full]), 0.0)
    one_less[spent] = np.maximum(-distances(tails[spent], heads[spent]), 0.0)
    margins, freed = np.full(len(items), np.nan), np.where(fixed | forbidden, np.nan, 0.0)
    if distances.have(graph.item_tails, graph.item_heads):
        into = distances(graph.item_heads, graph.item_tails) - worths
        out = distances(graph.item_tails, graph.item_heads) + worths
        margins = np.where(chosen, out, into)
        freed = np.where(fixed | forbidden, np.maximum(-margins, 0.0), 0.0)
        margins = np.maximum(margins, 0.0)
        margins[fixed | forbidden] = np.nan
    return Changes(*map(_objects, (one_more, one_less, margins, freed)))


class _ExchangeGainsError(Exception):
    """A circle of arcs is shorter than 0."""


class _Arcs(NamedTuple):
    """Arcs between nodes, perhaps several between two; lengths are whole numbers."""

    tails: NDArray[np.intp]
    heads: NDArray[np.intp]
    lengths: Array
    nodes: int


class _Distances:
    """Lengths of shortest paths between some nodes, the `ends`, and all others.

    Potentials make all lengths at least 0, so that Dijkstra's method finds the paths (Johnson 1977); all
    are whole numbers, so nothing is rounded.
    """

    def __init__(self, arcs: _Arcs, ends: NDArray[np.intp]) -> None:
        self._potentials = _potentials(arcs)
        lengths = arcs.lengths + self._potentials[arcs.tails] - self._potentials[arcs.heads]
        graph = _shortest(arcs._replace(lengths=lengths))
        self._row = np.full(arcs.nodes, -1)
        self._row[ends] = np.arange(len(ends))
        if len(ends) == arcs.nodes:
            self._from = self._to = csgraph.floyd_warshall(graph)
        else:
            self._from = csgraph.dijkstra(graph, indices=ends)
            self._to = csgraph.dijkstra(graph.T.tocsr(), indices=ends)

    def __call__(self, tails: NDArray[np.intp], heads: NDArray[np.intp]) -> Array:
        """From each tail to its head, of which one is among the ends."""
        tail, head = self._row[tails], self._row[heads]
        found = np.where(tail >= 0, self._from[tail, heads], self._to[head, tails])
        return np.asarray(found - self._potentials[tails] + self._potentials[heads])

    def have(self, tails: NDArray[np.intp], heads: NDArray[np.intp]) -> bool:
        """Whether of each tail and its head one is among the ends."""
        return bool(((self._row[tails] >= 0) | (self._row[heads] >= 0)).all())


def _potentials(arcs: _Arcs) -> Array:
    """The length of the shortest path to each node from anywhere, at most 0 (Bellman and Ford).

    Time O(arcs) a round, and as many rounds as such a path has arcs: some ten or hundred, where SciPy's
    method takes as many as there are nodes.
    """
    tails, heads, lengths, nodes = arcs
    order = np.argsort(heads, kind="stable")
    tails, lengths = tails[order], lengths[order]
    ends, first = np.unique(heads[order], return_index=True)
    found = np.zeros(nodes)
    for _ in range(nodes + 1):
        shorter = np.minimum(found[ends], np.minimum.reduceat(found[tails] + lengths, first))
        if np.array_equal(shorter, found[ends]):
            return found
        found[ends] = shorter
    raise _ExchangeGainsError


def _shortest(arcs: _Arcs) -> sp.csr_array:
    """The graph with the shortest of several arcs between two nodes."""
    tails, heads, lengths, nodes = arcs
    place = tails * nodes + heads
    order = np.lexsort((lengths, place))
    first = order[np.unique(place[order], return_index=True)[1]]
    return sp.csr_array((lengths[first], (tails[first], heads[first])), shape=(nodes, nodes))


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
        used = counts.used(chosen)
        room, spare = used < counts.upper, used > counts.lower
        enter, leave = ~chosen & ~settled, chosen & ~settled
        ends = [
            (self.item_tails[enter], self.item_heads[enter]),
            (self.item_heads[leave], self.item_tails[leave]),
            (self.count_tails[room], self.count_heads[room]),
            (self.count_heads[spare], self.count_tails[spare]),
        ]
        tails, heads = map(np.concatenate, zip(*ends, strict=True))
        nothing = np.zeros(np.count_nonzero(room) + np.count_nonzero(spare))
        lengths = np.concatenate([-worths[enter], worths[leave], nothing])
        self._arcs = _Arcs(tails, heads, lengths, 1 + len(counts))
        self._smaller = min(rows, columns, key=len)

    def distances(self) -> _Distances:
        """From and to source and sink, and all groups or those of the smaller view where these are few."""
        nodes, smaller = self._arcs.nodes, self._smaller
        if nodes <= _PAIRS:
            return _Distances(self._arcs, np.arange(nodes))
        few = len(smaller) * len(self._arcs.lengths) <= _STEPS
        return _Distances(self._arcs, np.append([_SOURCE, _SINK], smaller if few else smaller[:0]))


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
    an exchange of like items agree on. Bounds of views with few groups come first: somebody set each of them.
    The items are 10 fixed and 10 forbidden ones, and of those left out and of those chosen the 10 whose worth
    may be nearest to where they change sides, by `relaxed.least_margins`; of equal ones those of the largest
    worth left out, and of the smallest chosen.
    After `seconds` nothing further is tried, and the rest is nan.
    """
    best, end, used = float(worths[chosen].sum()), perf_counter() + seconds, counts.used(chosen)
    size = len(worths)

    def gain(changed: Counts, least: Mask, most: Mask) -> float:
        found = None if perf_counter() > end else again(changed, least, most)
        return np.nan if found is None else found - best

    one_more, one_less = np.zeros(len(counts)), np.zeros(len(counts))

    groups = Counter(view for view, _ in counts.names)
    few_first = np.argsort([groups[view] for view, _ in counts.names], kind="stable").tolist()

    def price_bounds(full: Mask, spent: Mask) -> None:
        rising, falling = full & counts.limits, spent & counts.demands
        rising &= relaxed.most_more > 0
        falling &= relaxed.most_less > 0
        for at in few_first:
            if rising[at]:
                changed = counts.with_bounds(counts.lower, _moved(counts.upper, at, 1))
                one_more[at] = gain(changed, fixed, ~forbidden)
            if falling[at]:
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
