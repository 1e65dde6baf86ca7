"""Prices of the bounds, and the check that a support is best, without rounding.

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
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.notebook import InNotebook
from optiframe.numbers import number, percent
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.numbers import exact_worths, quantise, times_power, unit_of

_BLOCK = 1 << 16  # elements checked at a time: temporaries stay in the cache


@dataclass(frozen=True, eq=False)
class Prices:
    """What the bounds cost, in the units of the worths (v squared): a dual answer.

    One more unit of a bound is worth at most its price, and one less costs at least it, the
    others as they are. A bound with a positive price is used up and binds; those with price zero
    could all be left out. Where supports tie or several bounds are used up together, prices are one
    valid choice among several; `optiframe_tvcs.shadow_prices` gives what one more unit is worth exactly.

    Parameters
    ----------
    total
        Price y0 of the bound on the whole vector.
    rows, columns
        Prices u and w of the groups of the two views; shapes (row groups,), (column groups,).
    """

    total: float
    rows: Array
    columns: Array

    @property
    def binding(self) -> dict[str, Any]:
        """Which bounds bind: "total" True or False, "rows" and "columns" the group numbers."""
        return {
            "total": self.total > 0,
            "rows": np.flatnonzero(self.rows > 0),
            "columns": np.flatnonzero(self.columns > 0),
        }

    def in_units(self, place: int) -> Prices:
        """The prices counted in units of ``2**place``; those of ``-place`` for the way back. May be inf."""
        with np.errstate(over="ignore"):
            rows, columns = (np.ldexp(each, -place) for each in (self.rows, self.columns))
            return Prices(float(np.ldexp(self.total, -place)), rows, columns)


@dataclass(frozen=True)
class Certificate(InNotebook):
    """Whether a support is the best, decided without rounding.

    Parameters
    ----------
    holds
        Whether it is proved that no feasible support is worth more, by the smallest amount.
    primal
        Worth of the support, rounded to float64; inf where it is beyond.
    dual
        Worth that no feasible support exceeds, likewise.
    gap
        What the best support is worth more: 0.0 when `holds`, above it when not, and inf for a support that
        breaks a bound.
    loss
        The same as a share: of the distance from the point (the nearest point of the set is ``1 - loss``
        times as far), or of the best worth where worths were given (`ThreeView.select`). From 0 to 1.
    reason
        Why it does not hold, in words; empty when it does.
    """

    holds: bool
    primal: float
    dual: float
    gap: float
    loss: float
    reason: str

    def in_words(self) -> list[str]:
        """Whether the support is the best, and else why that is not proved."""
        if self.holds:
            return [f"Proved: no feasible support is worth more than {number(self.primal)}."]
        return [f"Not proved best: {self.reason} (gap {number(self.gap)}, loss {percent(self.loss)})."]


class Bounds(NamedTuple):
    """The three views as plain arrays.

    `row_labels` and `column_labels` hold the group of each element, int32, -1 for none, shape
    (p,); `row_caps` and `column_caps` the bound of each group, int64; `total` that on the whole vector.
    """

    row_labels: NDArray[np.int32]
    row_caps: NDArray[np.int64]
    column_labels: NDArray[np.int32]
    column_caps: NDArray[np.int64]
    total: int


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
    reason = broken(values, bounds, support, squared)
    kept, left = worth_of(values, support, squared), worth_of(values, ~support, squared)
    if reason:
        return Certificate(False, kept, math.inf, math.inf, 1.0, reason), prices.in_units(-place)
    numbers = [np.array([prices.total]), prices.rows, prices.columns]
    if not all(((n >= 0) & (n <= 2.0**50) & (n == np.floor(n))).all() for n in numbers):
        reason = "the prices are not whole numbers from 0 to 2**50"
        return Certificate(False, kept, kept + left, left, 1.0, reason), prices.in_units(-place)
    residual = _Residual.of(values, bounds, support, prices, squared=squared, place=place)
    moves = _moves(residual)
    if moves is None:
        reason = "another support is worth more"
        return Certificate(False, kept, kept + left, left, 1.0, reason), prices.in_units(-place)
    return Certificate(True, kept, kept, 0.0, 0.0, ""), _moved(prices, place, moves, residual.unit)


def compare(
    values: Array, bounds: Bounds, support: NDArray[np.bool_], best: NDArray[np.bool_], *, squared: bool
) -> Certificate:
    """What a support is worth beside one that `check` has proved best.

    Parameters
    ----------
    values
        Worths, or entries whose squares are; finite, shape (p,). Entries that no support can hold count, too:
        they are part of the distance.
    bounds, squared
        As for `check`.
    support, best
        The two, shape (p,).
    """
    reason = broken(values, bounds, support, squared)
    kept, most = (worth_of(values, each, squared) for each in (support, best))
    if reason:
        return Certificate(False, kept, most, math.inf, 1.0, reason)
    at = np.flatnonzero(support != best)
    worths, unit = exact_worths(values[at], squared)
    more = sum(q if better else -q for q, better in zip(worths, best[at].tolist(), strict=True))
    if more == 0:
        return Certificate(True, kept, kept, 0.0, 0.0, "")
    bits = max(more.bit_length() - 60, 0)
    gap = _Sum(float(more >> bits), bits + unit)
    if squared:  # 1 - nearest / away, and nothing cancels: their squares differ by the gap
        away, nearest = (_Sum.of(values, ~each, squared) for each in (support, best))
        loss = gap.over(away) / (1 + math.sqrt(nearest.over(away)))
    else:
        loss = gap.over(_Sum.of(values, best, squared))
    lost = float(gap)
    size = f" {number(lost)}" if 0 < lost < math.inf else ""
    text = f"another support is worth{size} more"
    least = math.ulp(0.0)
    return Certificate(False, kept, max(most, kept), max(lost, least), min(max(loss, least), 1.0), text)


def broken(values: Array, bounds: Bounds, support: NDArray[np.bool_], squared: bool) -> str:
    """The first bound that a support breaks, or that it holds an element without worth; else empty."""
    for name, labels, caps in (
        ("row group", bounds.row_labels, bounds.row_caps),
        ("column group", bounds.column_labels, bounds.column_caps),
    ):
        over = np.flatnonzero(used(labels[support], len(caps)) > caps)
        if over.size:
            return f"{name} {over[0]} holds more elements than its bound allows"
    if np.count_nonzero(support) > bounds.total:
        return "the support holds more elements than the bound on the total allows"
    chosen = values[support]
    if not (chosen != 0 if squared else chosen > 0).all():
        return "an element without worth is chosen"
    return ""


def worth_of(values: Array, support: NDArray[np.bool_], squared: bool) -> float:
    """Worth of a support, rounded; inf where it is beyond float64."""
    return float(_Sum.of(values, support, squared))


def used(labels: NDArray[np.int32], groups: int) -> NDArray[np.int64]:
    """How often each group occurs among the labels of what is chosen; -1 is none."""
    return np.bincount(labels[labels >= 0], minlength=groups).astype(np.int64)


class _Sum(NamedTuple):
    """A sum of worths, ``number * 2**power``: squares of entries may be beyond float64, or next to 0."""

    number: float
    power: int

    @classmethod
    def of(cls, values: Array, support: NDArray[np.bool_], squared: bool) -> _Sum:
        """That of the chosen elements, rounded."""
        chosen = values[support]
        if not squared:
            chosen = np.maximum(chosen, 0.0)
        exponent = math.frexp(float(np.abs(chosen).max(initial=0.0)))[1]
        if abs(exponent) <= 400:  # no sum of squares overflows; what underflows is nothing beside the largest
            return cls(float((np.square(chosen) if squared else chosen).sum()), 0)
        scaled = np.ldexp(chosen, -exponent)
        if squared:
            return cls(float(np.square(scaled).sum()), 2 * exponent)
        return cls(float(scaled.sum()), exponent)

    def __float__(self) -> float:
        return times_power(self.number, self.power)

    def over(self, whole: _Sum) -> float:
        """The share of `whole`, which is not 0."""
        return times_power(self.number / whole.number, self.power - whole.power)


@dataclass
class _Residual:
    """The changes of a support that whole prices leave open: arcs between nodes, with exact lengths."""

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
        rows, columns = np.append(prices.rows, 0.0), np.append(prices.columns, 0.0)  # [-1] is "no group"
        source = len(row_caps) + len(column_caps)
        sink = source + 1
        spare = [
            used(row_labels[support], len(row_caps)) < row_caps,
            used(column_labels[support], len(column_caps)) < column_caps,
            np.array([np.count_nonzero(support) < total]),
        ]
        price = [prices.rows, prices.columns, np.array([prices.total])]
        wrong = max(float(p[s].max(initial=0.0)) for p, s in zip(price, spare, strict=True))
        parts = []
        for begin in range(0, len(values), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            whole, _ = quantise(values[part], squared, place)
            reduced = whole - (prices.total + rows[row_labels[part]] + columns[column_labels[part]])
            counts = whole > 0
            failing = np.where(support[part], -reduced, reduced)
            wrong = max(wrong, float(failing.max(initial=0.0, where=counts)))
            parts.append(np.where(counts, np.abs(reduced), np.inf))
        # A shortest path passes no node twice, and an arc is at most `wrong` and the rounding short of 0.
        within = (sink + 1) * (wrong + 1) + 1
        at = np.flatnonzero(np.concatenate(parts) <= within) if parts else np.zeros(0, np.intp)
        worths, unit = exact_worths(values[at], squared)
        unit = min(unit, place) if len(at) else place
        worths = exact_worths(values[at], squared, unit)[0]
        shift = place - unit
        whole_price = prices.total + rows[row_labels[at]] + columns[column_labels[at]]
        tails = np.where(row_labels[at] >= 0, row_labels[at], source).tolist()
        heads = np.where(column_labels[at] >= 0, column_labels[at] + len(row_caps), sink).tolist()
        arcs = []
        for tail, head, cost, worth, chosen in zip(
            tails, heads, whole_price.tolist(), worths, support[at].tolist(), strict=True
        ):
            length = (int(cost) << shift) - worth
            arcs.append((head, tail, -length) if chosen else (tail, head, length))
        groups = [(source, i) for i in range(len(row_caps))]
        groups += [(len(row_caps) + j, sink) for j in range(len(column_caps))] + [(sink, source)]
        ends = np.array(groups)
        cost, free = np.concatenate(price), np.concatenate(spare)
        for (tail, head), p, s in zip(
            ends[cost <= within].tolist(),
            cost[cost <= within].tolist(),
            free[cost <= within].tolist(),
            strict=True,
        ):
            arcs.append((head, tail, int(p) << shift))  # no price falls below 0
            if s:
                arcs.append((tail, head, -(int(p) << shift)))  # and none is above 0 that is not used up
        return cls(sink + 1, arcs, -(int(within) << shift), unit)


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
