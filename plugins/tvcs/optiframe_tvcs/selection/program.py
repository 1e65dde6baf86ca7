"""The integer program of a selection, by HiGHS through SciPy."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from optiframe.records.fields import Array
from optiframe_tvcs.selection.data import Counts, Mask

_GAP = 4e-6  # HiGHS stops within 1e-6 of the best
_LARGEST = 2.0**20  # of the costs: HiGHS takes what is below about 1e-7 for nothing
INFEASIBLE, _LIMIT = 2, 1  # statuses of `scipy.optimize.milp`


@dataclass(frozen=True)
class Outcome:
    """What HiGHS found.

    Parameters
    ----------
    chosen
        The best choice it knows; None where it has none.
    bound
        No choice is worth more, in the units of the worths; inf where it proved nothing.
    best
        Whether the choice is proved best, but for HiGHS's tolerance where `bound` is above its worth.
    infeasible
        Whether no choice keeps the bounds.
    """

    chosen: Mask | None
    bound: float
    best: bool = False
    infeasible: bool = False


def solve_program(
    counts: Counts, worths: Array, least: Mask, most: Mask, *, whole: bool, seconds: float = math.inf
) -> Outcome:
    """The choice of greatest total worth within the bounds.

    Parameters
    ----------
    counts
        What is counted, and its bounds.
    worths
        Whole numbers, shape (items,).
    least, most
        Items that must be in, and those that may be.
    whole
        Whether HiGHS has to be told that items are not divided. With two views and a total every vertex
        of the linear program is a choice.
    seconds
        Limit on the time.
    """
    scale = cost_scale(worths)
    if whole:
        _, matrix, lower, upper = asked_rows(counts)
        rows = LinearConstraint(matrix, lower, upper) if len(lower) else None
        bounds, options = Bounds(least.astype(np.float64), most.astype(np.float64)), limited(seconds)
        options["mip_rel_gap"] = 0.0
        found = interruptible(
            lambda: milp(-worths * scale, integrality=1, bounds=bounds, constraints=rows, options=options)
        )
    else:  # its interior points are 6 times faster than its simplex on 100,000 items; both end at a vertex
        found = linear_program(counts, worths, least, most, method="highs-ipm", seconds=seconds)[0]
    if found.status == INFEASIBLE:
        return Outcome(None, math.inf, infeasible=True)
    if found.x is None:
        return Outcome(None, math.inf)
    chosen = np.asarray(found.x > 0.5, dtype=bool)
    used = counts.used(chosen)
    if (used < counts.lower).any() or (used > counts.upper).any():  # rounding broke a bound
        return Outcome(None, math.inf)
    worth, done = float(worths[chosen].sum()), found.status != _LIMIT
    if not whole:
        return Outcome(chosen, worth if done else math.inf, best=done)
    bound = -float(found.mip_dual_bound) / scale if found.mip_dual_bound is not None else math.inf
    tolerance = _GAP / scale
    if tolerance < 0.5:  # totals are whole numbers: none lies between the bound and the next one below it
        bound = max(worth, float(np.floor(bound + tolerance)))
        return Outcome(chosen, bound, best=bound == worth)
    return Outcome(chosen, max(worth, bound), best=done and bound - worth <= tolerance)


def linear_program(
    counts: Counts, worths: Array, least: Mask, most: Mask, *, method: str, seconds: float
) -> tuple[Any, sp.csr_array, Array]:
    """What `linprog` finds by a method where items may be divided, and the rows and limits it was given.

    The rows are those of the counts whose bounds ask for something, and then the same with signs reversed,
    for their lower bounds. Costs are worths times `cost_scale`.
    """
    _, matrix, lower, upper = asked_rows(counts)
    rows, limits = sp.vstack([matrix, -matrix], format="csr"), np.concatenate([upper, -lower])
    bounds = np.stack([least, most], axis=1).astype(np.float64)
    costs, options = -worths * cost_scale(worths), limited(seconds)
    found = interruptible(lambda: linprog(costs, rows, limits, bounds=bounds, method=method, options=options))
    return found, rows, limits


def asked_rows(counts: Counts) -> tuple[NDArray[np.intp], sp.csr_array, Array, Array]:
    """The counts whose bounds ask for something, which items they count, and these bounds."""
    asked = np.flatnonzero(counts.limits | counts.demands)
    lower, upper = counts.lower, np.minimum(counts.upper, counts.sizes)
    return asked, counts.matrix[asked], lower[asked].astype(np.float64), upper[asked].astype(np.float64)


def cost_scale(worths: Array) -> float:
    """What makes costs for HiGHS of worths."""
    return _LARGEST / max(float(np.abs(worths).max(initial=0.0)), 1.0)


def limited(seconds: float) -> dict[str, float]:
    """Options for HiGHS that limit its time."""
    return {"time_limit": max(seconds, 1e-3)} if math.isfinite(seconds) else {}


def interruptible(call_highs: Callable[[], Any]) -> Any:
    """What a call of HiGHS returns, waited for so that Ctrl-C is heard: HiGHS itself does not hear it.

    After a `KeyboardInterrupt` HiGHS runs on in the background until its time is up or the process ends.
    """
    if threading.current_thread() is not threading.main_thread():
        return call_highs()
    found: Future[Any] = Future()

    def work() -> None:
        try:
            found.set_result(call_highs())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return found.result()
