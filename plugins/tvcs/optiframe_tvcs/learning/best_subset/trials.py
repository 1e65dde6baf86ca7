"""How splicing tries supports: by fits of the objective, or by its second-order model first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe_tvcs.learning.best_subset.second_order import SecondOrder
from optiframe_tvcs.learning.dense import ROWS
from optiframe_tvcs.learning.restricted import Inner, minimise_on

_ROUGH = 1e-2  # accuracy of wide fits, of which only the order of the entries counts


class Trials:
    """Fits of the objective itself; any with a gradient."""

    pairs = False  # whether exchanges of two entries can be compared, all of them at once
    strayed = True  # whether the last wide fit was one of the objective itself

    def __init__(self, function: Objective, inner: Inner, time_left: Callable[[], float]) -> None:
        self._function, self._inner, self.time_left = function, inner, time_left

    def around(self, x: Array) -> None:
        """Trials from now on are near this point."""

    def gradient(self, x: Array) -> Array:
        """The gradient at a point of few entries."""
        return np.asarray(self._function.gradient(x))

    def swaps(
        self, x: Array, gradient: Array, bends: Array, free: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Exchanges of two entries that look better, as `SecondOrder.swaps`; None where there is no model."""
        return None

    def wide(self, kept: NDArray[np.bool_], start: Array) -> Array:
        """A rough minimum on a wide support."""
        return minimise_on(self._function, kept, start, self._inner, self.time_left, accuracy=_ROUGH)

    def fit(self, kept: NDArray[np.bool_], start: Array, least: float) -> tuple[Array, float] | None:
        """The minimum on a support and its value; None, or a worse one, where it is not below `least`."""
        found = minimise_on(self._function, kept, start, self._inner, self.time_left, least=least)
        return found, self._function.value(found)


class ModelledTrials(Trials):
    """Trials of a linear model: its second-order model says which supports are worth a fit.

    Where the objective differs from the model by more than that expects, fits are made as without it.
    """

    _function: LinearModel
    _model: SecondOrder | None = None
    strayed = False

    def __init__(self, function: LinearModel, inner: Inner, time_left: Callable[[], float]) -> None:
        super().__init__(function, inner, time_left)
        # Of more labels, those of a9a, pairs found no better fits in a fifth more time.
        self.pairs = isinstance(function, LeastSquares) or len(function) <= ROWS

    def around(self, x: Array) -> None:
        self.strayed = False
        if self._model is None or not self._model.exact:
            self._model = SecondOrder.around(self._function, x)

    def gradient(self, x: Array) -> Array:
        indices, model = x.nonzero()[0], self._model
        found = None if model is None or self.strayed else model.gradient_at(indices, x[indices])
        return super().gradient(x) if found is None else found

    def swaps(
        self, x: Array, gradient: Array, bends: Array, free: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        inside = x.nonzero()[0]
        if self._model is None or not len(inside):
            return None
        return self._model.swaps(inside, x[inside], gradient, bends, free)

    def wide(self, kept: NDArray[np.bool_], start: Array) -> Array:
        indices, model = kept.nonzero()[0], self._model
        found = None if model is None else model.minimizer_on(indices, rough=True)
        if model is None or found is None:
            return super().wide(kept, start)
        trial = _filled(indices, found, kept.shape)
        self.strayed = not model.exact and not self._is_near(trial, *model.predicted(indices, found))
        return super().wide(kept, start) if self.strayed else trial

    def fit(self, kept: NDArray[np.bool_], start: Array, least: float) -> tuple[Array, float] | None:
        indices, model = kept.nonzero()[0], self._model
        found = None if model is None else model.minimizer_on(indices)
        if model is None or found is None:
            return super().fit(kept, start, least)
        predicted, doubt = model.predicted(indices, found)
        if predicted - doubt >= least:
            return None
        trial = _filled(indices, found, kept.shape)
        if model.exact:
            return trial, self._function.value(trial)
        if not self._is_near(trial, predicted, doubt):
            return super().fit(kept, start, least)
        near = model.hessian.among(indices)
        trial = minimise_on(
            self._function, kept, trial, self._inner, self.time_left, least=least, hessian=near
        )
        return trial, self._function.value(trial)

    def _is_near(self, x: Array, predicted: float, doubt: float) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):  # a model that hardly bends leads far away
            return abs(self._function.value(x) - predicted) <= doubt


def trials(function: Objective, inner: Inner, time_left: Callable[[], float]) -> Trials:
    """The cheaper way for this objective."""
    if inner == "auto" and isinstance(function, LinearModel) and function.smooth:
        return ModelledTrials(function, inner, time_left)
    return Trials(function, inner, time_left)


def _filled(indices: NDArray[np.intp], values: Array, shape: tuple[int, ...]) -> Array:
    x = np.zeros(shape)
    x[indices] = values
    return x
