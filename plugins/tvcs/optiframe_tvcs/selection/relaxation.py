"""What the linear program, in which items may be divided, says of the integer one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.selection.data import Counts, Mask
from optiframe_tvcs.selection.program import (
    INFEASIBLE,
    asked_rows,
    cost_scale,
    linear_program,
    solve_program,
)

_ROUNDING = 1e-9  # of sums of float64, relative


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
    end = perf_counter() + seconds
    solved = _solve(counts, worths, least, most, seconds)
    if solved is not None:
        chosen = solved.shares > 0.5
        used, worth = counts.used(chosen), float(worths[chosen].sum())
        if solved.bound == -math.inf:
            return -math.inf
        if (
            (used >= counts.lower).all()
            and (used <= counts.upper).all()
            and math.floor(solved.bound) <= worth
        ):
            return worth
    tried = solve_program(counts, worths, least, most, whole=True, seconds=end - perf_counter())
    if tried.infeasible:
        return -math.inf
    return float(worths[tried.chosen].sum()) if tried.best else None


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
    found, rows, limits = linear_program(counts, worths, least, most, method="highs", seconds=seconds)
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
