"""The check that a support is best, without rounding.

The support program (Eq. 5) is ``max <q, x>`` over ``x`` in [0, 1] with one bound for the whole
vector, one a row group and one a column group. Prices ``y0, u, w >= 0`` of these bounds leave
each element the reduced worth ``q - y0 - u[row] - w[column]``. A feasible support is optimal if

- no chosen element has a negative, and no other a positive reduced worth;
- a bound with a positive price is used up.

Prices come in whole numbers of a unit that is 2**-50 of the largest worth, and few of them say this exactly
of the real worths. They need not: whole numbers tell on which side nearly all elements are, whatever exact
prices near these are, and for the others exact ones are computed in Python's whole numbers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.kernels.numbers import exact_worths, quantise, times_power, unit_of
from optiframe_tvcs.projection.certificate import Bounds, Certificate, Prices, broken, used, worth_of

_BLOCK = 1 << 16  # elements checked at a time: temporaries stay in the cache


def check(
    values: Array,
    bounds: Bounds,
    support: NDArray[np.bool_],
    prices: Prices,
    *,
    squared: bool,
    unit: int | None = None,
) -> tuple[Certificate, Prices]:
    """Check that a support is best, given prices near ones that prove it, and find these.

    Nothing is taken on trust and nothing is rounded. The prices put elements farther from them than any exact
    prices nearby can be; these keep their side. What is nearer, few elements unless worths tie, gets exact
    prices by Bellman and Ford's method in Python's whole numbers, or there are none. Time O(p + groups) and
    about a microsecond for each of the few, 16 bytes an element beside the arguments.

    Parameters
    ----------
    values, squared
        Worths, or entries whose squares are, 0 where no support can hold an element; finite, shape (p,).
    bounds
        The views.
    support
        Which elements are chosen, shape (p,).
    prices
        In whole numbers of the unit in which the worths are rounded (`quantise`).
    unit
        The place of that unit; None: `unit_of` the values.

    Returns
    -------
    certificate, prices
        The prices that prove it, rounded to float64, in the units of the worths; where it is not proved, the
        given ones.
    """
    place = unit_of(values, squared) if unit is None else unit
    kept = worth_of(values, support, squared)
    if reason := broken(values, bounds, support, squared):
        return Certificate(False, kept, math.inf, math.inf, 1.0, reason), prices.in_units(-place)
    numbers = [np.array([prices.total]), prices.rows, prices.columns]
    if all(((n >= 0) & (n <= 2.0**50) & (n == np.floor(n))).all() for n in numbers):
        residual = _Residual.of(values, bounds, support, prices, squared=squared, place=place)
        moves = _moves(residual)
        if moves is not None:
            return Certificate(True, kept, kept, 0.0, 0.0, ""), _moved(prices, place, moves, residual.unit)
        reason = "another support is worth more"
    else:
        reason = "the prices are not whole numbers from 0 to 2**50"
    left = worth_of(values, ~support, squared)
    return Certificate(False, kept, kept + left, left, 1.0, reason), prices.in_units(-place)


@dataclass
class _Residual:
    """The changes of a support that whole prices leave open: arcs between nodes, with exact lengths.

    Nodes are the row groups, the column groups, a source and a sink, in which elements of no group begin and
    end. An arc leads along a unit that the support may take up, or against one that it may give back.
    """

    nodes: int
    arcs: list[tuple[int, int, int]]
    least: int
    """No exact price is farther from the given ones."""
    unit: int
    """Lengths are counted in units of 2**unit."""

    @classmethod
    def of(
        cls,
        values: Array,
        bounds: Bounds,
        support: NDArray[np.bool_],
        prices: Prices,
        *,
        squared: bool,
        place: int,
    ) -> _Residual:
        row_labels, row_caps, column_labels, column_caps, total = bounds
        source = len(row_caps) + len(column_caps)
        sink = source + 1
        cost = np.concatenate([prices.rows, prices.columns, [prices.total]])
        spare = np.concatenate(
            [
                used(row_labels[support], len(row_caps)) < row_caps,
                used(column_labels[support], len(column_caps)) < column_caps,
                [np.count_nonzero(support) < total],
            ]
        )
        distances, wrong = _distances(values, bounds, support, prices, squared=squared, place=place)
        wrong = max(wrong, float(cost[spare].max(initial=0.0)))
        # A shortest path passes no node twice, and an arc is at most `wrong` and the rounding short of 0.
        within = (sink + 1) * (wrong + 1) + 1
        near = np.flatnonzero(distances <= within)
        worths, unit = exact_worths(values[near], squared)
        if unit > place or not worths:  # prices, too, are to be whole numbers of the unit
            worths, unit = exact_worths(values[near], squared, place)
        shift = place - unit
        rows, columns = row_labels[near], column_labels[near]
        elements = zip(
            np.where(rows >= 0, rows, source).tolist(),
            np.where(columns >= 0, columns + len(row_caps), sink).tolist(),
            _thresholds(prices)(rows, columns).tolist(),
            worths,
            support[near].tolist(),
            strict=True,
        )
        arcs = []
        for tail, head, threshold, worth, chosen in elements:
            length = (int(threshold) << shift) - worth
            arcs.append((head, tail, -length) if chosen else (tail, head, length))
        ends = [(source, i) for i in range(len(row_caps))]
        ends += [(j, sink) for j in range(len(row_caps), source)] + [(sink, source)]
        for at in np.flatnonzero(cost <= within).tolist():
            (tail, head), price = ends[at], int(cost[at]) << shift
            arcs.append((head, tail, price))  # no price falls below 0
            if spare[at]:
                arcs.append((tail, head, -price))  # and none is above 0 that is not used up
        return cls(sink + 1, arcs, -(int(within) << shift), unit)


def _distances(
    values: Array,
    bounds: Bounds,
    support: NDArray[np.bool_],
    prices: Prices,
    *,
    squared: bool,
    place: int,
) -> tuple[Array, float]:
    """How far each rounded worth is from its price, inf where it is 0, and the most that a wrong one is."""
    threshold = _thresholds(prices)
    distances, wrong = np.full(len(values), np.inf), 0.0
    for begin in range(0, len(values), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        whole, _ = quantise(values[part], squared, place)
        reduced = whole - threshold(bounds.row_labels[part], bounds.column_labels[part])
        counts = whole > 0
        failing = np.where(support[part], -reduced, reduced)
        wrong = max(wrong, float(failing.max(initial=0.0, where=counts)))
        np.abs(reduced, out=distances[part], where=counts)
    return distances, wrong


def _thresholds(prices: Prices) -> Callable[[NDArray[np.int32], NDArray[np.int32]], Array]:
    """What elements of given groups must be worth to be chosen."""
    of_rows, of_columns = np.append(prices.rows, 0.0), np.append(prices.columns, 0.0)  # [-1] is "no group"
    return lambda rows, columns: np.asarray(prices.total + of_rows[rows] + of_columns[columns])


def _moves(residual: _Residual) -> list[int] | None:
    """What makes the potentials exact, by Bellman and Ford's method with a queue; None: nothing does."""
    out: dict[int, list[tuple[int, int]]] = {}
    for tail, head, length in residual.arcs:
        out.setdefault(tail, []).append((head, length))
    distance = [0] * residual.nodes
    queue = deque({tail for tail, _, length in residual.arcs if length < 0})
    waiting = set(queue)
    while queue:
        v = queue.popleft()
        waiting.discard(v)
        for u, length in out.get(v, ()):
            through = distance[v] + length
            if through < distance[u]:
                distance[u] = through
                if through < residual.least:
                    return None  # around a cycle again and again
                if u not in waiting and u in out:
                    waiting.add(u)
                    queue.append(u)
    return distance


def _moved(prices: Prices, place: int, moves: list[int], unit: int) -> Prices:
    """The prices in the units of the worths, after moves of potentials that count in units of 2**unit."""
    found = prices.in_units(-place)
    if not any(moves):
        return found
    rows, columns, shift = found.rows.copy(), found.columns.copy(), place - unit
    source, sink = moves[-2:]
    whole = [prices.rows.tolist(), prices.columns.tolist()]

    def exact(price: float, move: int) -> float:
        number = (int(price) << shift) + move
        bits = max(number.bit_length() - 60, 0)
        return times_power(float(number >> bits), bits + unit)

    for i, price in enumerate(whole[0]):
        if moves[i] != source:
            rows[i] = exact(price, moves[i] - source)
    for j, price in enumerate(whole[1]):
        if moves[len(rows) + j] != sink:
            columns[j] = exact(price, sink - moves[len(rows) + j])
    return Prices(exact(prices.total, source - sink), rows, columns)
