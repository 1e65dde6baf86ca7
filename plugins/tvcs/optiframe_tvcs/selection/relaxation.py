"""What the linear program, in which items may be divided, says of the integer one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.selection.data import Counts, Mask
from optiframe_tvcs.selection.program import (
    INFEASIBLE,
    Outcome,
    asked_rows,
    cost_scale,
    linear_program,
    solve_program,
)

_ROUNDING = 1e-9  # of sums of float64, relative
_MANY = 20_000  # items; HiGHS looks for cliques among more for minutes, whatever its time limit
_OPEN = 5_000  # of many items, those that are left to the integer program at first


@dataclass(frozen=True)
class Relaxation:
    """What the prices of the linear program say of changes to a best choice; whole numbers.

    Parameters
    ----------
    least_margins
        How much of its worth it loses at least if an item changes sides, shape (items,).
    most_more, most_less
        What it gains at most when an upper bound rises by one, or a lower one falls, shape (counts,).
    """

    least_margins: Array
    most_more: Array
    most_less: Array


def relax(
    counts: Counts, worths: Array, chosen: Mask, *, least: Mask, most: Mask, seconds: float
) -> Relaxation:
    """What the linear program says of a best choice; nothing (0 and inf) where it has no time.

    Whatever the prices, no choice is worth more than the bounds are by them, less what an item costs there
    that is on another side.

    Parameters
    ----------
    counts, worths, least, most, seconds
        As for `solve_program`.
    chosen
        A best choice.
    """
    more, less = np.full((2, len(counts)), np.inf)
    solved = _solve(counts, worths, least, most, seconds) if seconds > 0 else None
    if solved is None or not math.isfinite(solved.bound):
        return Relaxation(np.zeros(len(worths)), more, less)
    above = max(solved.bound - float(worths[chosen].sum()), 0.0)
    more[solved.asked], less[solved.asked] = np.floor(above + solved.prices)
    costs = np.where(chosen, solved.gains, -solved.gains)
    return Relaxation(np.ceil(np.maximum(costs - above, 0.0)), more, less)


def best_worth(counts: Counts, worths: Array, least: Mask, most: Mask, seconds: float) -> float | None:
    """The worth of the best choice; -inf where there is none, None where there is no time to find it.

    Where the linear program divides no item, or what it chooses is worth as much, the integer one, which
    takes some ten times as long, is not needed.

    Parameters
    ----------
    counts, worths, least, most, seconds
        As for `solve_program`.
    """
    tried = _best(counts, worths, least, most, seconds)
    if tried.infeasible:
        return -math.inf
    return float(worths[tried.chosen].sum()) if tried.best else None


def best_choice(counts: Counts, worths: Array, least: Mask, most: Mask, seconds: float) -> Outcome:
    """The choice of greatest worth by the integer program; of many items, by the linear one first.

    Parameters
    ----------
    counts, worths, least, most, seconds
        As for `solve_program`.
    """
    if len(worths) <= _MANY:
        return solve_program(counts, worths, least, most, whole=True, seconds=seconds)
    return _best(counts, worths, least, most, seconds)


def _best(counts: Counts, worths: Array, least: Mask, most: Mask, seconds: float) -> Outcome:
    """The best choice: that of the linear program where it is whole, else that of the integer one."""
    end = perf_counter() + seconds
    solved = _solve(counts, worths, least, most, seconds)
    if solved is not None:
        if solved.bound == -math.inf:
            return Outcome(None, math.inf, infeasible=True)
        chosen = solved.shares > 0.5
        used, worth = counts.used(chosen), float(worths[chosen].sum())
        kept = (used >= counts.lower).all() and (used <= counts.upper).all()
        if kept and math.floor(solved.bound) <= worth:
            return Outcome(chosen, worth, best=True)
        if len(worths) > _MANY:
            return _among_open_items(counts, worths, least, most, solved=solved, end=end)
    return solve_program(counts, worths, least, most, whole=True, seconds=end - perf_counter())


def _among_open_items(
    counts: Counts, worths: Array, least: Mask, most: Mask, *, solved: _Solved, end: float
) -> Outcome:
    """The best choice by the integer program, in which only items that gain or cost little are open.

    A choice with an item on another side than the linear program has it is worth less than that program's
    bound by what the item gains or costs there. If what is found misses the bound by no more than any item
    that was not open, it is the best; otherwise all are opened that gain or cost no more than it misses.
    Where those that are open cannot meet the bounds, twice as many are.
    """
    sizes = np.sort(np.abs(solved.gains))
    margin = float(sizes[_OPEN])
    while True:
        within_least = least | most & (solved.gains > margin)
        within_most = most & (least | (solved.gains >= -margin))
        seconds = end - perf_counter()
        found = solve_program(counts, worths, within_least, within_most, whole=True, seconds=seconds)
        if found.infeasible and margin < math.inf:
            twice = 2 * int(np.searchsorted(sizes, margin, side="right"))
            margin = float(sizes[twice]) if twice < len(sizes) else math.inf
            continue
        if found.chosen is None:
            return found
        missed = solved.bound - float(worths[found.chosen].sum())
        if found.best and missed > margin:
            margin = missed
            continue
        return replace(found, bound=min(solved.bound, max(found.bound, solved.bound - margin)))


@dataclass(frozen=True)
class _Solved:
    """Shares of items in the best division; no choice is worth more than `bound` (-inf: there is none).

    `prices` are those of the upper and lower bounds of the counts that are `asked`, shape (2, asked);
    `gains` what an item is worth beside what its groups cost.
    """

    shares: Array
    bound: float
    asked: NDArray[np.intp]
    prices: Array
    gains: Array


def _solve(counts: Counts, worths: Array, least: Mask, most: Mask, seconds: float) -> _Solved | None:
    method = "highs" if len(worths) <= _MANY else "highs-ipm"
    found, rows, limits = linear_program(counts, worths, least, most, method=method, seconds=seconds)
    asked = asked_rows(counts)[0]
    if found.status == INFEASIBLE:
        return _Solved(np.zeros(len(worths)), -math.inf, asked, np.zeros((2, len(asked))), worths)
    if found.status != 0:
        return None
    prices = np.maximum(-found.ineqlin.marginals, 0.0) / cost_scale(worths)
    gains = worths - rows.T @ prices
    bound = float(limits @ prices + np.where(gains > 0, most * gains, least * gains).sum())
    bound += _ROUNDING * (float(np.abs(worths).max(initial=0.0)) + abs(bound))
    return _Solved(np.asarray(found.x), bound, asked, prices.reshape(2, -1), gains)
