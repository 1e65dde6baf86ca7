"""The proof that no support of a set fits better, where all of them can be compared in little time."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe.solving.counting import type_of
from optiframe_tvcs.kernels.splicing import best_support
from optiframe_tvcs.learning.best_subset.search import LEAST_FALL, Search, is_better
from optiframe_tvcs.learning.best_subset.small import SmallSearch, whole_hessian
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.learning.weighted import weighted
from optiframe_tvcs.learning.with_intercept import without_intercept
from optiframe_tvcs.sets.sparse_sets import digest, support
from optiframe_tvcs.sets.three_view import ThreeView

_EXACT = 1e-6  # of the value at zero: rounding in what is compared may reach a thousandth of so good a fit
_FEW, _OTHERS = 10, 14  # entries inside and outside whose supports are compared
_PRODUCTS = (
    50_000  # multiplications for that: with four times as many, and sizes to 15, paths took a fifth longer
)


class AllSupports:
    """A search, and where it finds nothing better, a comparison of all supports, or of many nearby.

    Branch and bound for least squares over `Cardinality` and three-view sets, with or without an intercept:
    what remains to be chosen gains no more than all of it would together (after Furnival, Wilson 1974, "leaps
    and bounds"). All supports are compared once. If that takes too long, those of the entries inside and of
    the 14 that fit best in place of one of them are, in sizes up to 10. Other problems: the search only.

    Parameters
    ----------
    search
        What is asked first.
    products
        Multiplications after which the comparison of all ends without a proof, as it does when the time of
        `search` is up; 0: nothing is compared.
    whole
        Whether to compare all.
    """

    proved = False  # whether the last fit is the best of all

    def __init__(
        self, search: Search | SmallSearch, problem: Minimize, products: int, *, whole: bool = True
    ) -> None:
        self._search, self._problem, self.trying = search, problem, search.trying
        self._products, self._whole, self._met = products, whole and products > 0, set[bytes]()

    def improved(self, x: Array, value: float) -> tuple[Array, float] | None:
        """As of `Search`."""
        better = self._search.improved(x, value)
        if better is None and self._whole:
            self._whole = False
            better = self._compared(x, value, self._products, -1)
        key = digest(support(x))
        if better is None and self._products and not self.proved and key not in self._met:
            self._met.add(key)
            if np.count_nonzero(x) <= _FEW:
                better = self._compared(x, value, _PRODUCTS, _OTHERS)
        return better

    def _compared(self, x: Array, value: float, products: int, others: int) -> tuple[Array, float] | None:
        quadratic, bounds = self._quadratic, self._bounds
        if quadratic is None or bounds is None or self.trying.time_left() == 0:
            return None
        (table, place, against, start), (size, free, labels, room) = quadratic, bounds
        if value <= _EXACT * start or (others < 0 and x.size**2 > products):
            return None
        gain, kept = start - value * (1.0 - LEAST_FALL), x != 0
        complete = best_support(
            *(table, place, against, size, free, labels, room, gain, products, others, kept),
            self.trying.time_left,
        )
        better = None
        if kept.any():
            found = minimise_on(self._problem.function, kept, np.where(kept, x, 0.0))
            ahead = self._problem.function.value(found)
            if not is_better(ahead, value):
                return None  # by rounding; nothing is proved then
            better = found, ahead
        self.proved = complete and others < 0
        return better

    @cached_property
    def _bounds(self) -> tuple[int, bool, NDArray[np.int64], NDArray[np.int64]] | None:
        return _bounds(self._problem)

    @cached_property
    def _quadratic(self) -> tuple[Array, NDArray[np.intp], Array, float] | None:
        """All rows of the Hessian, the negative gradient at zero, and the value there."""
        function: Any = self._problem.function
        if self._bounds is None or (hessian := whole_hessian(function)) is None:
            return None
        zero = np.zeros(function.shape)
        return *hessian, -function.gradient(zero), function.value(zero)


def _bounds(problem: Minimize) -> tuple[int, bool, NDArray[np.int64], NDArray[np.int64]] | None:
    """The set as `best_support` takes it; None where that does not know the problem."""
    if type_of(problem.function) not in (LeastSquares, weighted(LeastSquares)):
        return None
    inner, free = without_intercept(problem.over)
    (columns,) = problem.function.shape
    # Group 0 is that of entries without one: in both views, where an entry counts twice.
    labels, room = np.zeros((2, columns), dtype=np.int64), [np.array([2 * columns])]
    if type(inner) is ThreeView:
        groups = 1
        for row, view in zip(labels, inner.views, strict=True):
            row[: columns - free] = np.where(view.labels < 0, 0, view.labels.astype(np.int64) + groups)
            room.append(view.caps)
            groups += len(view)
        return inner.limit, free, labels, np.concatenate(room)
    return (inner.size, free, labels, np.concatenate(room)) if type(inner) is Cardinality else None
