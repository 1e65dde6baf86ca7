"""One step of splicing: from a fit on a support to a better one, by a pursuit or by an exchange."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe_tvcs.learning.best_subset.trials import Trials
from optiframe_tvcs.learning.with_intercept import counted
from optiframe_tvcs.sets.sparse_sets import digest, enlarged, norm, projector, support

LEAST_FALL = 1e-10  # relative fall of the objective that counts: ten times the restricted minimum's accuracy
_SEEN = 4  # wide fits of the objective itself, before a pursuit is judged by the values that it meets
_FAR = 3.0  # their standard deviations; at 2 and 2.5 better fits were missed on planted labels


class Search:
    """Searches of one run; a wide support is fitted once in all of them.

    Parameters
    ----------
    over
        A set of supports (`sparse_sets.enlarged`).
    trying
        How supports are tried.
    pursuit, width
        As of `Splicing`.
    """

    def __init__(
        self, function: Objective, over: ConstraintSet, trying: Trials, *, pursuit: int, width: int
    ) -> None:
        wider = enlarged(over, 2)
        assert wider is not None  # else `Splicing.unsuited` said so
        self.function, self.trying, self.pursuit, self.width = function, trying, pursuit, width
        self._onto, self._doubled = projector(over), projector(wider)
        self._bound = counted(over) if trying.pairs else None
        self._fitted: set[bytes] = set()
        self._exchanging = False  # whether an exchange improved the fit last; it is then tried first

    def improved(self, x: Array, value: float) -> tuple[Array, float] | None:
        """A better fit than `x`, which is the best on its support, and its value; None: there is none."""
        self.trying.around(x)
        ways = [self.pursued, self.exchanged]
        for way in reversed(ways) if self._exchanging else ways:
            if (better := way(x, value)) is not None:
                self._exchanging = way == self.exchanged
                return better
        self._exchanging = False
        return None

    def exchanged(self, x: Array, value: float) -> tuple[Array, float] | None:
        """The first better fit after an exchange, and its value; None: none is better."""
        for kept in self._candidates(x, self.trying.gradient(x)):
            trial = self.trying.fit(kept, np.where(kept, x, 0.0), value)
            if trial is not None and is_better(trial[1], value):
                return trial
            if self.trying.time_left() == 0:
                break
        return None

    def pursued(self, x: Array, value: float) -> tuple[Array, float] | None:
        """The best fit on a support that a pursuit from `x` meets, and its value; None: none is better."""
        function, trying = self.function, self.trying
        best: tuple[Array, float] | None = None
        least, z, met = value, x, {digest(support(x))}
        dear: list[float] = []  # values after fits that no model could replace
        for _ in range(self.pursuit):
            if len(dear) >= _SEEN and np.mean(dear) - _FAR * np.std(dear) > least:
                break
            slope = trying.gradient(z)
            if not np.isfinite(slope).all():
                break  # z lies far away, where an objective may overflow
            wide = support(self._doubled.project(slope)) | support(z)
            if isinstance(function, LinearModel) and np.count_nonzero(wide) >= len(function):
                break  # it fits the samples exactly, whatever the rest
            if (key := digest(wide)) in self._fitted or trying.time_left() == 0:
                break
            self._fitted.add(key)
            z = np.asarray(self._onto.project(trying.wide(wide, z)))
            if trying.strayed:
                dear.append(function.value(z))
            if (key := digest(support(z))) in met:
                continue
            met.add(key)
            trial = trying.fit(support(z), z, least)
            if trial is not None and is_better(trial[1], least):
                best, least = trial, trial[1]
        return best

    def _candidates(self, x: Array, gradient: Array) -> Iterator[NDArray[np.bool_]]:
        """Other supports of the set, from large exchanges to those of two entries; each once.

        Of a model whose support is bounded by its size alone, the pairs that lower it most; else the entries
        of most worth come in.
        """
        inside, bends = support(x), _bends(self.function, x)
        bend = np.sqrt(bends)
        worths = np.where(inside, np.abs(x) * bend, np.abs(gradient) / bend).ravel()
        outside = np.where(inside.ravel(), -1.0, worths)
        order = np.argsort(-outside, kind="stable")[: np.count_nonzero(outside > 0)]
        inner = np.where(inside.ravel(), worths, 0.0)
        above = 2.0 * norm(worths)  # an entry forced in outweighs all others together
        met = {digest(inside)}

        def exchanged(forced: NDArray[np.intp], others: Array) -> Iterator[NDArray[np.bool_]]:
            point = others.copy()
            point[forced] = above
            kept = support(np.asarray(self._onto.project(point.reshape(x.shape))))
            if (key := digest(kept)) not in met:
                met.add(key)
                yield kept

        yield from exchanged(order[:0], worths)  # all by their worth
        count = min(max(1, int(np.count_nonzero(inside))), len(order))
        while count > 0:
            yield from exchanged(order[:count], inner)
            count //= 2
        pairs = None if self._bound is None else self.trying.swaps(x, gradient, bends, self._bound[1])
        if pairs is None:
            for single in order[1 : self.width]:
                yield from exchanged(np.array([single]), inner)
            return
        for coming, going in islice(zip(*pairs, strict=True), self.width):
            kept = inside.copy()
            kept[[coming, going]] = True, False
            if (key := digest(kept)) not in met:
                met.add(key)
                yield kept


def is_better(ahead: float, value: float) -> bool:
    """Whether a value is lower by what counts."""
    return ahead < value - LEAST_FALL * abs(value)


def _bends(function: Objective, x: Array) -> Array:
    """The diagonal of the Hessian of a linear model; else ones, which leaves the order of worths to x."""
    if not isinstance(function, LinearModel):
        return np.ones(x.shape)
    weights = function.bends(function.matrix @ x) / len(function)
    squares = function.matrix.multiply(function.matrix) if hasattr(function.matrix, "multiply") else None
    diagonal = function.matrix.T**2 @ weights if squares is None else squares.T @ weights
    diagonal = np.asarray(diagonal + function.ridge)
    # A constant column of zeros, or a loss that is flat here: no division by nothing.
    least = float(diagonal.max(initial=0.0)) * 1e-12
    return np.maximum(diagonal, least) if least > 0 else np.ones(x.shape)
