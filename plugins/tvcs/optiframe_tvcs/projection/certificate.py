"""Prices of the bounds, and what a support is worth beside the best one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.notebook import InNotebook
from optiframe.numbers import number, percent
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.numbers import exact_worths, times_power


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
