"""Rough fits along falling l1 penalties (Lasso): where to start looking for supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.records.fields import Array
from optiframe_tvcs.learning.restricted import minimise_on

_LEVELS = np.geomspace(1.0, 1e-3, 41)[1:]  # of the penalty, of the one that leaves nothing
_STEPS = 60  # at one level: the support of a rough fit is as good a start
_ROUNDS = 10  # of minima of a majorant, at one level
_MOST = 2000  # columns of a majorant: 32 MB
_CLOSE = 1e-2  # of a level: optimal up to so much


def l1_path(function: LinearModel, free: NDArray[np.bool_]) -> Iterator[Array]:
    """Fits of the objective and an l1 penalty that falls, each when it is asked for.

    Accelerated proximal gradient steps, started again where they turn against the gradient (Beck, Teboulle
    2009; O'Donoghue, Candes 2015), each level from the last. A step costs a gradient; where there are more
    rows than columns, of a quadratic that lies above the objective.

    Parameters
    ----------
    free
        Entries that are not penalised, of the point's shape.
    """
    x = minimise_on(function, free, np.zeros(function.shape))
    largest = float(np.abs(function.gradient(x)[~free]).max(initial=0.0))
    if largest == 0.0 or function.curvature() <= 0.0:
        return
    above = _majorant(function)
    for level in largest * _LEVELS:
        x = _at_level(function, above, x, np.where(free, 0.0, level), _CLOSE * level)
        yield x


def _majorant(function: LinearModel) -> Array | None:
    """A matrix that no Hessian exceeds, where products with it take less time than gradients."""
    rows, columns = function.matrix.shape
    if columns > min(rows, _MOST) or not function.offers(LinearModel.curvature):
        return None
    if isinstance(function, LeastSquares):
        return function.hessian_rows(np.zeros(columns)).rows(np.arange(columns))
    return function.steepest_hessian().rows(np.arange(columns))


def _at_level(function: LinearModel, above: Array | None, x: Array, penalty: Array, close: float) -> Array:
    """The rough fit with these penalties; with a majorant, minima of quadratics that lie above."""
    curvature = function.curvature()
    if above is None:
        return _proximal(function.gradient, curvature, x, penalty, close)
    for _ in range(_ROUNDS):
        offset = function.gradient(x) - above @ x
        last, x = x, _proximal(_slope(above, offset), curvature, x, penalty, close / 2)
        # What the gradient can differ from the quadratic's by; of least squares, nothing.
        if isinstance(function, LeastSquares) or np.abs(above @ (x - last)).max() <= close / 2:
            break
    return x


def _slope(matrix: Array, offset: Array) -> Callable[[Array], Array]:
    return lambda x: np.asarray(matrix @ x + offset)


def _proximal(
    gradient: Callable[[Array], Array], curvature: float, x: Array, penalty: Array, close: float
) -> Array:
    """Accelerated proximal gradient steps, started again where they turn against the gradient."""
    shrink = penalty / curvature
    ahead, weight = x, 1.0
    for _ in range(_STEPS):
        moved = ahead - gradient(ahead) / curvature
        moved -= np.clip(moved, -shrink, shrink)
        if np.abs(moved - ahead).max() * curvature <= close:
            return moved
        if np.vdot(ahead - moved, moved - x) > 0:
            weight = 1.0
        after = (1.0 + np.sqrt(1.0 + 4.0 * weight**2)) / 2.0
        ahead, x, weight = moved + (weight - 1.0) / after * (moved - x), moved, after
    return x
