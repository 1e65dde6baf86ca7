"""Prices of the bounds, and the check that they prove a support optimal.

The support program (Eq. 5) is ``max <q, x>`` over ``x`` in [0, 1] with one bound for the whole
vector, one a row group and one a column group. Prices ``y0, u, w >= 0`` of these bounds leave
each element the reduced worth ``q - y0 - u[row] - w[column]``. A feasible support is optimal if

- no chosen element has a negative, and no other a positive reduced worth;
- a bound with a positive price is used up.

With whole-number worths and prices below 2**50 every sum in this check is exact in float64. What
rounding the worths to whole numbers may have cost follows from the same prices and the real worths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

PROVED = 1e-9
"""Largest share of the distance that a support may lose and still count as proved."""

_BLOCK = 1 << 16  # elements checked at a time: temporaries stay in the cache, 2.5 MB in all
_SUMS = 1 + 1e-9  # times a sum of float64 is more than its exact value, for up to 2**20 blocks
# Rounding all squares to float64 loses at most 2**-53 of those exchanged on either side, and neither
# side holds more than the support leaves out; twice that covers it.
_SQUARING = 2.0**-51


def _times(amount: Any, factor: float) -> Any:
    """The amount in other units; nothing stays nothing where one unit is more than float64 holds."""
    if math.isfinite(factor):
        with np.errstate(over="ignore"):  # of the prices of what no support can hold: those may be inf
            return amount * factor
    scaled = np.where(np.asarray(amount) > 0, factor, 0.0)
    return scaled if scaled.ndim else float(scaled)


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

    def times(self, factor: float) -> Prices:
        """The prices in other units."""
        return Prices(_times(self.total, factor), _times(self.rows, factor), _times(self.columns, factor))


@dataclass(frozen=True)
class Certificate:
    """The outcome of checking complementary slackness over all elements and all bounds.

    Parameters
    ----------
    holds
        Whether the support is proved best: `exact`, and `loss` is at most 1e-9.
    exact
        Whether the support is proved optimal for the quantised worths (no tolerance).
    primal
        Worth of the support.
    dual
        Worth that no feasible support exceeds, by these prices.
    gap
        ``dual - primal``: at most so much is lost of the quantised worth; 0.0 when `exact`.
    worst
        Index of the element with the largest failure; None when no element fails.
    failure
        Its reduced worth with the wrong sign, or 0.0.
    rounding
        Bound on what quantising the worths can have cost, in the same units: the support is
        within ``gap + rounding`` of the best for the real worths.
    loss
        Bound on what the support loses in real worths, quantising included, as a share: of the distance
        from the point to its projection (the nearest point of the set is at least ``1 - loss`` times as
        far), or of the worth kept where worths were given (`ThreeView.select`). From 0 to 1.
    reason
        Why it does not hold, in words; empty when it does.
    """

    holds: bool
    exact: bool
    primal: float
    dual: float
    gap: float
    worst: int | None
    failure: float
    rounding: float
    loss: float
    reason: str

    def times(self, factor: float) -> Certificate:
        """The certificate in other units."""
        amounts = ("primal", "dual", "gap", "failure", "rounding")
        return replace(self, **{name: _times(getattr(self, name), factor) for name in amounts})


def with_loss(
    found: Certificate,
    worths: Array,
    bounds: Bounds,
    support: NDArray[np.bool_],
    prices: Prices,
    *,
    squared: bool = True,
) -> Certificate:
    """The certificate of a check of quantised worths, with what the support may lose in the real ones.

    Prices bound the real worth of every support, too. If they are in complementary slackness with the
    support for the quantised worths, the bound exceeds its real worth by the sum of what real reduced
    worths have of the wrong sign: only elements at their price can have any, and at most one unit each.
    Time O(p), 2.5 MB beside the arguments.

    Parameters
    ----------
    found
        In the units of `worths`.
    worths
        Real worths, 0 where no support can hold an element, shape (p,).
    squared
        Whether they are the squares of a point, so that the loss is a share of a distance.
    """
    rows, columns = np.append(prices.rows, 0.0), np.append(prices.columns, 0.0)
    lost = left = kept = 0.0
    for begin in range(0, len(worths), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        chosen, worth = support[part], np.maximum(worths[part], 0.0)
        price = prices.total + rows[bounds.row_labels[part]] + columns[bounds.column_labels[part]]
        reduced = worth - price
        lost += float(np.maximum(np.where(chosen, -reduced, reduced), 0.0).sum())
        left += float(worth @ ~chosen)
        kept += float(worth @ chosen)
    if not found.exact:
        lost = found.gap + found.rounding
    share = 0.0
    if left > 0 or lost == math.inf:  # else everything of worth is kept
        whole = left if squared else kept
        share = lost * _SUMS / whole if whole > 0 else math.inf
        if squared:
            share += _SQUARING
            share = share / (1 + math.sqrt(1 - share)) if share < 1 else 1.0  # of the distance
    loss = min(share, 1.0)
    reason = found.reason
    if found.exact and not loss <= PROVED:
        more = "nearer to the point" if squared else "better"
        reason = (
            "the entries differ too much in size: after rounding, another support may be up to "
            f"{100 * loss:.3g}% {more} (proved means within {PROVED:g}); where the small entries matter, "
            "set the largest apart and project the rest"
        )
    return replace(found, holds=found.exact and loss <= PROVED, loss=loss, reason=reason)


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
    whole: Array,
    bounds: Bounds,
    support: NDArray[np.bool_],
    prices: Prices,
    scale: float = 1.0,
    *,
    worths: Array | None = None,
    squared: bool = True,
) -> Certificate:
    """Check complementary slackness of a support and prices over all elements and bounds.

    Exact for whole-number worths and prices up to 2**50; time O(p + groups), 2.5 MB beside the
    arguments. Nothing is taken on trust: a support that breaks a bound, a negative price and
    a chosen element without worth all fail.

    Parameters
    ----------
    whole
        Quantised worths, shape (p,).
    bounds
        The views.
    support
        Which elements are chosen, shape (p,).
    prices
        In the units of `whole`. Prices that are not whole numbers are allowed; the bound
        is then right but for the rounding of float64.
    scale
        Units of `whole` that make one unit of the real worths; the certificate speaks of those.
    worths, squared
        As for `with_loss`; None: the quantised worths are the real ones.
    """
    row_labels, row_caps, column_labels, column_caps, total = bounds
    rows, columns = np.append(prices.rows, 0.0), np.append(prices.columns, 0.0)  # [-1] is "no group"
    primal: float = 0
    dual: float = 0  # Python integers as long as the numbers are whole: no sum is rounded
    worst, failure = -1, 0.0
    for begin in range(0, len(whole), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        chosen, worth = support[part], whole[part]
        reduced = worth - (prices.total + rows[row_labels[part]] + columns[column_labels[part]])
        primal += _exact_sum(worth[chosen])
        dual += _exact_sum(reduced[reduced > 0])
        failing = np.where(chosen, -reduced, reduced)
        at = int(np.argmax(failing))
        if failing[at] > failure:
            worst, failure = begin + at, float(failing[at])
    counts = [
        used(row_labels[support], len(row_caps)),
        used(column_labels[support], len(column_caps)),
        np.array([np.count_nonzero(support)]),
    ]
    sides = (
        ("row group", counts[0], row_caps, prices.rows),
        ("column group", counts[1], column_caps, prices.columns),
        ("the total", counts[2], np.array([total]), np.array([prices.total])),
    )
    reason = f"element {worst} has a reduced worth of the wrong sign" if worst >= 0 else ""
    feasible = True
    for name, count, caps, price in sides:
        usable = np.minimum(caps, len(whole))  # so that a bound beyond p does not overflow
        paid = (price > 0) & (usable > 0)  # a bound of 0 costs nothing, whatever its price
        dual += sum(_exact_product(p, c) for p, c in zip(price[paid], usable[paid], strict=True))
        broken = np.flatnonzero(count > caps)
        negative = np.flatnonzero(~(price >= 0))
        slack = np.flatnonzero((price > 0) & (count < caps))
        said = name if name == "the total" else f"{name} {{}}"
        if broken.size:
            feasible = False
            reason = f"{said.format(broken[0])} holds more elements than its bound allows"
        elif negative.size:
            reason = f"{said.format(negative[0])} has a negative price"
        elif slack.size and not reason:
            reason = f"{said.format(slack[0])} has a price and is not used up"
    taken = whole[support]
    if taken.size and float(taken.min()) <= 0:
        reason = reason or "an element without worth is chosen"
    gap = math.inf if not feasible else max(float(dual - primal), 0.0)
    at_most = int(np.count_nonzero(support)) + min(int(total), int(np.count_nonzero(whole > 0)))
    found = Certificate(
        holds=not reason,
        exact=not reason,
        primal=float(primal) / scale,
        dual=float(dual) / scale,
        gap=gap / scale,
        worst=worst if worst >= 0 else None,
        failure=failure / scale,
        rounding=at_most / scale,
        loss=1.0,
        reason=reason,
    )
    real = whole / scale if worths is None else worths
    return with_loss(found, real, bounds, support, prices.times(1 / scale), squared=squared)


def used(labels: NDArray[np.int32], groups: int) -> NDArray[np.int64]:
    """How often each group occurs among the labels of what is chosen; -1 is none."""
    return np.bincount(labels[labels >= 0], minlength=groups).astype(np.int64)


def _exact_sum(numbers: Array) -> int | float:
    """The sum as a Python integer where the numbers are whole; they need more than 53 bits together."""
    if not np.array_equal(numbers, np.floor(numbers)):
        return float(numbers.sum())
    # A block of 2**16 numbers below 2**26 fits in float64 exactly; so do the upper halves.
    upper = np.floor(numbers / 2.0**26)
    return (int(upper.sum()) << 26) + int((numbers - upper * 2.0**26).sum())


def _exact_product(price: float, cap: int) -> int | float:
    return int(price) * int(cap) if float(price).is_integer() else float(price) * int(cap)
