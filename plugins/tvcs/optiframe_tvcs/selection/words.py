"""A choice, its proof and its prices in sentences; and a contradiction between bounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe_tvcs.selection.changes import Changes, floats
from optiframe_tvcs.selection.contradiction import Contradiction, Demand
from optiframe_tvcs.selection.data import Counts, ItemTable, Mask
from optiframe_tvcs.selection.proof import Proof
from optiframe_tvcs.selection.worths import most_decimals

_ITEMS, _PRICES, _NEAREST = 40, 10, 3  # named in words; the tables have all
_OF_VIEW = 3  # prices of each view that go before the others
_BEST = {
    "projection": "the three-view projection is exact for upper bounds on at most two views and in all",
    "flow": "with at most two views this is a flow, solved exactly (a linear program by HiGHS), and no "
    "exchange of items gains",
    "integer program": "the integer program of HiGHS{why} found that no other choice is worth more",
}


def chosen_in_words(items: ItemTable, chosen: Mask, value: float) -> list[str]:
    """How many items are chosen, what they add up to, and which they are."""
    ids = items.ids[chosen].tolist()
    found = [
        f"{len(ids)} of {len(items)} items chosen; {items.value_name} adds up to {number(value, items)}."
    ]
    return [*found, f"Chosen: {_several(ids)}."] if ids else found


def number(value: float, items: ItemTable) -> str:
    """A sum of values with the decimals that they have, or of values that are no decimals with six digits."""
    if not items.worths.exact or abs(value) >= 1e15:
        return f"{value + 0.0:,.6g}" if abs(value) < 1e6 or abs(value) >= 1e15 else f"{value:,.0f}"
    whole, _, decimals = f"{value + 0.0:,.{items.worths.places}f}".partition(".")
    decimals = decimals.rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def proof_in_words(items: ItemTable, value: float, proof: Proof) -> str:
    """Whether a choice is proved best, and by what."""
    if proof.best:
        rounded = " (values rounded to 12 digits)" if proof.bound > value else ""
        said = f"Proved best{rounded}: {_BEST[proof.method].format(why=_why_whole(items))}."
    elif math.isinf(proof.bound):
        said = "Not proved best, and HiGHS knows no limit on what another choice could be worth."
    else:
        said = (
            f"Not proved best: the integer program of HiGHS{_why_whole(items)} stopped early. No choice is "
            f"worth more than {number(proof.bound, items)}, {number(proof.bound - value, items)} above this "
            "one."
        )
    return said + _digits_in_words(items, proof)


def _digits_in_words(items: ItemTable, proof: Proof) -> str:
    """What the digits of the values do to an answer, in sentences after another; nothing for decimals."""
    name, worths = items.value_name, items.worths
    if worths.noisy is not None:
        return (
            f" {name} counts with {_decimals(worths.places)}: rounding errors, as in {worths.noisy!r}, are "
            "left out."
        )
    if proof.best and proof.changes is None:
        places = most_decimals(items.values)
        todo = f"; round it to {_decimals(places)}" if places >= 0 else ""
        return f" What bounds are worth is not known: {name} has too many digits{todo}."
    if not worths.exact and proof.method == "projection":
        return f" What bounds are worth is calculated with {name} rounded to 12 digits."
    return ""


def _decimals(places: int) -> str:
    return f"{places or 'no'} decimal{'' if places == 1 else 's'}"


def _why_whole(items: ItemTable) -> str:
    """Why an integer program was needed, in brackets."""
    if len(items.views) > 2:
        return f" (needed with {len(items.views)} views)"
    double = next((view for view in items.views if len(view.columns) > 1), None)
    return (
        ""
        if double is None
        else f" (needed as an item counts in {len(double.columns)} groups of {double.name})"
    )


def changes_in_words(
    items: ItemTable, counts: Counts, changes: Changes, *, chosen: Mask, fixed: Mask, forbidden: Mask
) -> list[str]:
    """What bounds and marks cost, and the items whose value is nearest to where the choice changes."""
    return [
        *_prices(items, counts, changes),
        *_freed(items, fixed, changes),
        *_nearest(items, changes, chosen=chosen, free=~(fixed | forbidden)),
    ]


def _prices(items: ItemTable, counts: Counts, changes: Changes) -> list[str]:
    said = [
        (gain, counts.names[at][0], f"One {step} item in {counts.label(at)} ({kind} {bounds[at]})")
        for step, kind, bounds, gains in (
            ("more", "at most", counts.upper, changes.one_more),
            ("fewer", "at least", counts.lower, changes.one_less),
        )
        for at, gain in _gains(gains)
    ]
    said.sort(key=lambda each: -each[0])
    earlier: Counter[str] = Counter()
    ranks = []  # within their views, so that one with many groups does not hide the others
    for _, view, _ in said:
        ranks.append(earlier[view])
        earlier[view] += 1
    order = sorted(range(len(said)), key=lambda at: ranks[at] >= _OF_VIEW)
    shown, left = sorted(order[:_PRICES]), len(said) - _PRICES
    found = [
        f"{text} would add {number(gain, items)} to {items.value_name}."
        for gain, _, text in (said[at] for at in shown)
    ]
    unknown = int(np.isnan(floats(np.concatenate([changes.one_more, changes.one_less]))).sum())
    if left > 0:
        found.append(f"{left} more bounds are worth something; see the table of bounds.")
    if unknown:
        found.append(f"What {unknown} of the bounds are worth was not computed {_why_not(changes)}.")
    if not said and not unknown and (counts.limits.any() or counts.demands.any()):
        found.append("No bound costs anything: with any one relaxed by 1 the best choice is worth the same.")
    return found


def _why_not(changes: Changes) -> str:
    return "because you stopped it" if changes.stopped else "for lack of time (prices_time)"


def _why_no_items(changes: Changes, unknown: Mask) -> str:
    """Why not all of these items were computed, after a blank; nothing where only the nearest are."""
    return f" {_why_not(changes)}" if changes.tried is not None and (unknown & changes.tried).any() else ""


def _freed(items: ItemTable, fixed: Mask, changes: Changes) -> list[str]:
    lines = [
        f"{items.ids[at]} is {'fixed' if fixed[at] else 'forbidden'}; without that, the best choice would be "
        f"worth {number(gain, items)} more."
        for at, gain in _gains(changes.freed)[:_PRICES]
    ]
    unknown = np.isnan(floats(changes.freed))
    if unknown.any():
        why = _why_no_items(changes, unknown)
        lines.append(
            f"What {unknown.sum()} of the fixed and forbidden items cost by that was not computed{why}."
        )
    return lines


def _nearest(items: ItemTable, changes: Changes, *, chosen: Mask, free: Mask) -> list[str]:
    margins, found = floats(changes.margins), []
    at_least = None if changes.least_margins is None else floats(changes.least_margins)
    if at_least is None and np.isnan(margins[free]).any():
        return ["With so many groups, the values at which items change sides were not computed."]
    turns = items.worths.tidy(items.values + np.where(chosen, -margins, margins))
    for side, verb, move in ((~chosen, "chosen", "rose above"), (chosen, "dropped", "fell below")):
        places = np.flatnonzero(side & np.isfinite(margins) & (margins > 0))
        nearest = places[np.argsort(margins[places], kind="stable")][:_NEAREST].tolist()
        found += [
            f"{items.ids[at]} would be {verb} if its {items.value_name} {move} {number(turns[at], items)} "
            f"(by more than {number(margins[at], items)})."
            for at in nearest
        ]
        if at_least is not None:
            unknown = side & free & np.isnan(margins)
            farthest = margins[nearest[-1]] if len(nearest) == _NEAREST else np.inf
            open_items = int((unknown & (at_least < farthest)).sum())
            if open_items:
                why = _why_no_items(changes, unknown)
                others = "another item" if open_items == 1 else f"{open_items} other items"
                found.append(f"{others.capitalize()} may be {verb} for a smaller change; not computed{why}.")
    return found


def _gains(column: NDArray[Any]) -> list[tuple[int, float]]:
    """Place and gain of what gains, the largest first."""
    gains = floats(column)
    places = np.flatnonzero(gains > 0)
    return [(int(at), float(gains[at])) for at in places[np.argsort(-gains[places], kind="stable")]]


def contradiction_in_words(found: Contradiction, items: ItemTable, counts: Counts) -> str:
    """What contradicts what, and what to do."""
    texts = _demands(found.demands, items, counts)
    if len(texts) == len(found.demands) == 1:
        return f"no choice keeps this bound: {texts[0]}; relax it, or add items"
    smallest = "perhaps fewer of them do"
    if found.irreducible:
        smallest = "with any one of them left out they do not"
    if found.fewest:
        smallest = "no smaller set of bounds does"
    listed = "; ".join(f"({place}) {text}" for place, text in enumerate(texts, start=1))
    return (
        f"these {len(found.demands)} bounds contradict each other ({smallest}): {listed}. Relax one of them"
    )


def _demands(demands: Sequence[Demand], items: ItemTable, counts: Counts) -> list[str]:
    """Demands in words; equal bounds on several groups of a view share a line."""
    alike: dict[tuple[Any, ...], list[Demand]] = {}
    for demand in demands:
        if demand.kind in ("fixed", "forbidden"):
            alike.setdefault((demand.kind,), []).append(demand)
        else:
            bound = (counts.lower if demand.kind == "at_least" else counts.upper)[demand.at]
            alike.setdefault((demand.kind, counts.names[demand.at][0], int(bound)), []).append(demand)
    return [_alike(several, items, counts) for several in alike.values()]


def _several(names: list[Any]) -> str:
    more = f" and {len(names) - _ITEMS} more" if len(names) > _ITEMS else ""
    return ", ".join(map(str, names[:_ITEMS])) + more


def _alike(demands: list[Demand], items: ItemTable, counts: Counts) -> str:
    kind, at = demands[0].kind, demands[0].at
    if kind in ("fixed", "forbidden"):
        return f"{_several([items.ids[one.at] for one in demands])} {'are' if demands[1:] else 'is'} {kind}"
    number_of, words = (counts.upper[at], "at most") if kind == "at_most" else (counts.lower[at], "at least")
    bound = f"{words} {number_of}"
    if demands[1:]:
        view = counts.names[at][0]
        groups = [counts.names[one.at][1] for one in demands]
        every = len(groups) == sum(name == view for name, _ in counts.names)
        which = f"{view} (all {len(groups)})" if every else f"{view} {_several(groups)}"
        return f"{which}: {bound} each, {number_of * len(groups)} together"
    if kind == "at_most":
        return f"{counts.label(at)}: {bound}"
    size = int(counts.sizes[at])
    has = f"{'there are' if at == 0 else 'it has'} {size} item{'s' if size != 1 else ''}"
    return f"{counts.label(at)}: {bound} ({has})"
