"""The proof that no support of a set fits better, where all of them can be compared in little time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.splicing import best_support
from optiframe_tvcs.learning.best_subset.search import LEAST_FALL, Search, is_better
from optiframe_tvcs.learning.best_subset.small import SmallSearch, whole_hessian
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.learning.weighted import weighted
from optiframe_tvcs.learning.with_intercept import WithIntercept
from optiframe_tvcs.sets.three_view import ThreeView

_EXACT = 1e-6  # of the value at zero: rounding in what is compared may reach a thousandth of so good a fit


class AllSupports:
    """A search, and where it finds nothing better, once, a comparison of all supports.

    Branch and bound for least squares over `Cardinality` and three-view sets, with or without an intercept:
    what remains to be chosen gains no more than all of it would together (after Furnival, Wilson 1974, "leaps
    and bounds"). Other problems are left to the search.

    Parameters
    ----------
    search
        What is asked first.
    products
        Multiplications after which the comparison ends without a proof.
    """

    proved = False  # whether the last fit is the best of all

    def __init__(self, search: Search | SmallSearch, problem: Minimize, products: int) -> None:
        self._search, self._problem, self._products, self.trying = search, problem, products, search.trying

    def improved(self, x: Array, value: float) -> tuple[Array, float] | None:
        """As of `Search`."""
        better = self._search.improved(x, value)
        if better is None and self._products and self.trying.time_left() > 0:
            better = self._compared(x, value)
            self._products = 0
        return better

    def _compared(self, x: Array, value: float) -> tuple[Array, float] | None:
        function, bounds = self._problem.function, _bounds(self._problem)
        start = function.value(np.zeros(x.shape))
        if (
            bounds is None
            or not isinstance(function, LeastSquares)
            or x.size**2 > self._products
            or value <= _EXACT * start
        ):
            return None
        hessian = whole_hessian(function)
        if hessian is None:
            return None
        (table, place), (size, free, labels, room) = hessian, bounds
        kept = np.zeros(x.shape, dtype=bool)
        against = -function.gradient(np.zeros(x.shape))
        gain = start - value * (1.0 - LEAST_FALL)
        complete = best_support(table, place, against, size, free, labels, room, gain, self._products, kept)
        if not kept.any():
            self.proved = complete
            return None
        found = minimise_on(function, kept, np.where(kept, x, 0.0))
        ahead = function.value(found)
        if not is_better(ahead, value):
            return None
        self.proved = complete
        return found, ahead


def _bounds(problem: Minimize) -> tuple[int, bool, NDArray[np.int64], NDArray[np.int64]] | None:
    """The set as `best_support` takes it; None where that does not know the problem."""
    if type(problem.function) not in (LeastSquares, weighted(LeastSquares)):
        return None
    free = isinstance(problem.over, WithIntercept)
    inner = problem.over.over if isinstance(problem.over, WithIntercept) else problem.over
    (columns,) = problem.function.shape
    labels, room = np.zeros((2, columns), dtype=np.int64), [np.array([columns])]  # those of no group
    if type(inner) is ThreeView:
        groups = 1
        for row, view in zip(labels, inner.views, strict=True):
            row[: columns - free] = np.where(view.labels < 0, 0, view.labels.astype(np.int64) + groups)
            room.append(view.caps)
            groups += len(view)
        return inner.limit, free, labels, np.concatenate(room)
    return (inner.size, free, labels, np.concatenate(room)) if type(inner) is Cardinality else None
