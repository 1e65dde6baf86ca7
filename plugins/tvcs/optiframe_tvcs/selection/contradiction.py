"""Which bounds contradict each other: the fewest that no choice can keep together."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from time import perf_counter
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from optiframe.records.fields import Array
from optiframe_tvcs.selection.data import Counts, Mask
from optiframe_tvcs.selection.program import INFEASIBLE, interruptible

_LONGEST = 20.0  # seconds for one program
_SECONDS = 4.0  # to leave out what can be, and to find the fewest

Places = NDArray[np.intp]
Kind = Literal["at_least", "at_most", "fixed", "forbidden"]


@dataclass(frozen=True)
class Demand:
    """One thing asked for: a bound on a count, or an item that must or must not be chosen."""

    kind: Kind
    at: int


@dataclass(frozen=True)
class Contradiction:
    """Demands that no choice keeps together.

    Parameters
    ----------
    demands
        What contradicts what.
    fewest
        Whether no smaller set contradicts itself.
    irreducible
        Whether none of these can be left out.
    """

    demands: tuple[Demand, ...]
    fewest: bool
    irreducible: bool


def contradiction(counts: Counts, fixed: Mask, forbidden: Mask, *, whole: bool) -> Contradiction | None:
    """The fewest demands that contradict each other; None where a choice keeps them all.

    First some contradict each other: by counting, or those with a price in the linear program that breaks
    bounds as little as possible, or else what such programs break, added up. Then what can be left out is
    left out. At last sets of demands are collected that some choice breaks while it keeps all others;
    whatever contradicts itself has one of each. The smallest set that does is tried, until one contradicts
    itself, or is as large as the first: then none is smaller. Some seconds after the first set is known the
    smallest so far is returned.

    Raises
    ------
    TimeoutError
        Where HiGHS cannot tell.
    """
    relaxed = _Relaxed(counts, fixed, forbidden, whole)
    counted = _by_counting(counts)
    if counted is not None and len(counted) <= 2:  # one alone contradicts itself if it lacks items
        return Contradiction(tuple(sorted(counted, key=relaxed.demands.index)), fewest=True, irreducible=True)
    kept = None if counted is None else {relaxed.demands.index(one) for one in counted}
    kept = kept or _contradicting(relaxed)
    if kept is None:
        return None
    relaxed.end = perf_counter() + _SECONDS
    irreducible = fewest = False
    with suppress(TimeoutError):
        for at in sorted(kept, key=relaxed.weight):  # small demands go first, so that few large ones stay
            if relaxed.broken(kept - {at}) is None:
                kept.discard(at)
        irreducible = True
    broken: list[Places] = []
    tried: set[int] = set()
    with suppress(TimeoutError):
        while len(tried) < len(kept):
            more = relaxed.broken(tried)
            if more is None:
                kept, irreducible = tried, True
                break
            broken.append(more)
            tried = _fewest_hits(broken, len(relaxed.demands), relaxed.time_left())
        fewest = irreducible
    demands = tuple(relaxed.demands[at] for at in sorted(kept))
    return Contradiction(demands, fewest, irreducible)


def _by_counting(counts: Counts) -> set[Demand] | None:
    """Bounds that contradict each other by their numbers alone, as few as that shows; None where none do."""
    lower, upper, sizes = counts.lower, np.minimum(counts.upper, counts.sizes), counts.sizes
    for at in np.flatnonzero(lower > sizes)[:1].tolist():
        return {Demand("at_least", at)}
    for at in np.flatnonzero(lower > upper)[:1].tolist():
        return {Demand("at_least", at), Demand("at_most", at)}
    views = np.array([view for view, _ in counts.names], dtype=object)
    several = [np.flatnonzero(views == view) for view in dict.fromkeys(views.tolist())]  # the total is one
    found = [_too_few_places(counts, *pair) for pair in permutations(several, 2)]
    return min(filter(None, found), key=len, default=None)


def _too_few_places(counts: Counts, limited: Places, asking: Places) -> set[Demand] | None:
    """The fewest upper bounds of one view and lower ones of another that leave too few items; None: none."""
    lower, sizes = counts.lower[asking], counts.sizes
    spared = sizes[limited] - np.minimum(counts.upper, sizes)[limited]
    caps, demands = np.argsort(-spared, kind="stable"), np.argsort(-lower, kind="stable")
    # An item may count several times in a view: once at each end of a link.
    often, others = (int(sizes[at].sum()) // max(int(sizes[0]), 1) for at in (limited, asking))
    left = others * (sizes[limited].sum() - np.cumsum([0, *spared[caps]]))
    asked = often * np.cumsum([0, *lower[demands]])
    enough = np.searchsorted(-left, -asked, side="right")  # so many upper bounds leave less than is asked
    together = np.where(enough <= len(limited), enough + np.arange(len(asked)), np.inf)
    fewest = int(np.argmin(together))
    if together[fewest] == np.inf:
        return None
    at_most = (Demand("at_most", int(at)) for at in limited[caps[: enough[fewest]]])
    return {*at_most, *(Demand("at_least", int(at)) for at in asking[demands[:fewest]])}


def _contradicting(relaxed: _Relaxed) -> set[int] | None:
    """Some demands that contradict each other; None where nothing does."""
    kept = relaxed.priced()
    while (more := relaxed.broken(kept)) is not None:
        if not len(more):
            return None
        kept.update(more.tolist())
    return kept


def _fewest_hits(sets: list[Places], size: int, seconds: float) -> set[int]:
    """The fewest places that meet every set; `TimeoutError` where that takes longer."""
    matrix = sp.csr_array(
        (
            np.ones(sum(map(len, sets))),
            (np.repeat(np.arange(len(sets)), [*map(len, sets)]), np.concatenate(sets)),
        ),
        shape=(len(sets), size),
    )
    found = milp(
        np.ones(size),
        integrality=np.ones(size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, 1),
        options={"time_limit": seconds},
    )
    if not found.success:
        raise TimeoutError
    return set(np.flatnonzero(found.x > 0.5).tolist())


class _Relaxed:
    """The bounds, of which all but some may be broken at a cost."""

    def __init__(self, counts: Counts, fixed: Mask, forbidden: Mask, whole: bool) -> None:
        places: list[tuple[Kind, Places]] = [
            ("at_most", np.flatnonzero(counts.limits)),
            ("at_least", np.flatnonzero(counts.demands)),
            ("fixed", np.flatnonzero(fixed)),
            ("forbidden", np.flatnonzero(forbidden)),
        ]
        self.demands = [Demand(kind, at) for kind, several in places for at in several.tolist()]
        (_, limits), (_, demands), (_, self._fixed), (_, self._forbidden) = places
        self._items = counts.matrix.shape[1]
        bounds = len(limits) + len(demands)
        self._starts = np.cumsum([bounds, len(self._fixed)])
        self._matrix = sp.hstack(
            [sp.vstack([counts.matrix[limits], -counts.matrix[demands]]), -sp.eye_array(bounds)], format="csr"
        )
        self._most = np.concatenate([counts.upper[limits], -counts.lower[demands]]).astype(np.float64)
        self._whole = np.repeat([int(whole), 0], [self._items, bounds])
        self._costs = np.repeat([0.0, 1.0], [self._items, bounds])
        self._weights = np.concatenate([-counts.upper[limits], counts.lower[demands]])
        self._costs[self._fixed], self._costs[self._forbidden] = -1.0, 1.0
        self.end = np.inf  # by the clock

    def time_left(self) -> float:
        """Seconds for one program; `TimeoutError` where there are none."""
        left = min(_LONGEST, self.end - perf_counter())
        if left <= 0:
            raise TimeoutError
        return left

    def weight(self, at: int) -> int:
        """How much a demand asks for; marks of items ask for little."""
        return int(self._weights[at]) if at < len(self._weights) else 0

    def priced(self) -> set[int]:
        """Bounds with a price where no bound is kept, and marks with one: they contradict each other.

        With whole numbers prices prove nothing, and this is empty.
        """
        bounds = int(self._starts[0])
        if self._whole.any() or not bounds:
            return set()
        least, most = self._limits()
        least[self._fixed], most[self._forbidden] = 1.0, 0.0
        costs = np.repeat([0.0, 1.0], [self._items, bounds])
        found = self._linear(costs, least, most)
        if found.x is None or found.fun < 0.5:
            return set()
        prices = [
            found.ineqlin.marginals,
            found.lower.marginals[self._fixed],
            found.upper.marginals[self._forbidden],
        ]
        return set(np.flatnonzero(np.abs(np.concatenate(prices)) > 1e-6).tolist())

    def broken(self, kept: set[int]) -> Places | None:
        """What a choice that keeps these demands, and of the others as much as it can, breaks; None: none."""
        bounds = int(self._starts[0])
        least, most = self._limits()
        hard = np.array(sorted(kept), dtype=np.intp)
        most[self._items + hard[hard < bounds]] = 0.0
        must = hard[(hard >= bounds) & (hard < self._starts[1])] - bounds
        least[self._fixed[must]] = 1.0
        most[self._forbidden[hard[hard >= self._starts[1]] - self._starts[1]]] = 0.0
        found = (self._integer if self._whole.any() else self._linear)(self._costs, least, most)
        if found.x is None and found.status != INFEASIBLE:
            raise TimeoutError
        if found.x is None:
            return None
        x, over = found.x[: self._items], found.x[self._items :]
        return np.flatnonzero(np.concatenate([over > 0.5, x[self._fixed] < 0.5, x[self._forbidden] > 0.5]))

    def _limits(self) -> tuple[Array, Array]:
        bounds = int(self._starts[0])
        return np.zeros(self._items + bounds), np.repeat([1.0, np.inf], [self._items, bounds])

    def _linear(self, costs: Array, least: Array, most: Array) -> Any:
        for method in ("highs-ipm", "highs-ds"):  # the simplex where interior points come to no verdict
            solve = partial(linprog, costs, self._matrix, self._most, method=method)
            sides, options = np.stack([least, most], axis=1), {"time_limit": self.time_left()}
            found = interruptible(partial(solve, bounds=sides, options=options))
            if found.x is not None or found.status == INFEASIBLE:
                break
        return found

    def _integer(self, costs: Array, least: Array, most: Array) -> Any:
        rows = LinearConstraint(self._matrix, -np.inf, self._most) if len(self._most) else None
        options = {"time_limit": self.time_left()}
        solve = partial(milp, costs, integrality=self._whole, bounds=Bounds(least, most), constraints=rows)
        return interruptible(partial(solve, options=options))
