"""Rough fits along falling l1 penalties (Lasso): where to start looking for supports."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.splicing import lasso
from optiframe_tvcs.learning.restricted import minimise_on

_LEVELS = np.geomspace(1.0, 1e-3, 41)[1:]  # of the penalty, of the one that leaves nothing
_STEPS = 60  # at one level: the support of a rough fit is as good a start
_PASSES = 60  # of coordinate descent, likewise
_ROUNDS = 10  # of minima of a majorant, at one level
_MOST = 2000  # columns of a majorant: 32 MB
_CLOSE = 1e-2  # of a level: optimal up to so much


def l1_path(function: LinearModel, free: NDArray[np.bool_]) -> Iterator[Array]:
    """Fits of the objective and an l1 penalty that falls, each when it is asked for.

    Coordinate descent on quadratics that lie above the objective (Friedman, Hastie, Tibshirani 2010), each
    level from the last. Tables with more than 2,000 columns take accelerated proximal gradient steps, started
    again where they turn against the gradient (Beck, Teboulle 2009; O'Donoghue, Candes 2015).

    Parameters
    ----------
    free
        Entries that are not penalised, of the point's shape.
    """
    x = minimise_on(function, free, np.zeros(function.shape))
    largest = float(np.abs(function.gradient(x)[~free]).max(initial=0.0))
    if largest == 0.0 or not function.offers(LinearModel.curvature):
        return  # nothing to follow, or no bound on the curvature that steps could keep to
    above = _majorant(function)
    for level in largest * _LEVELS:
        x = _at_level(function, above, x, np.where(free, 0.0, level), _CLOSE * level)
        yield x


_Table = tuple[Array, NDArray[np.intp]]  # rows of a symmetric matrix, and the place of each column's


def _majorant(function: LinearModel) -> _Table | None:
    """A matrix that no Hessian exceeds; None where it is too large."""
    columns = function.matrix.shape[1]
    if columns > _MOST:
        return None
    if isinstance(function, LeastSquares):
        return function.hessian_rows(np.zeros(columns)).whole()
    return function.steepest_hessian().whole()


def _at_level(function: LinearModel, above: _Table | None, x: Array, penalty: Array, close: float) -> Array:
    """The rough fit with these penalties; with a majorant, minima of quadratics that lie above."""
    if above is None:
        return _proximal(function, x, penalty, close)
    for _ in range(_ROUNDS):
        last, x = x, x.copy()
        lasso(*above, _product(above, last) - function.gradient(last), penalty, x, close / 2, _PASSES)
        # What the gradient can differ from the quadratic's by; of least squares, nothing.
        if isinstance(function, LeastSquares) or np.abs(_product(above, x - last)).max() <= close / 2:
            break
    return x


def _product(matrix: _Table, x: Array) -> Array:
    """The matrix times a point of few entries."""
    (table, place), inside = matrix, np.flatnonzero(x)
    return np.asarray(x[inside] @ table[place[inside]])


def _proximal(function: LinearModel, x: Array, penalty: Array, close: float) -> Array:
    """Accelerated proximal gradient steps, started again where they turn against the gradient."""
    curvature = function.curvature()
    shrink = penalty / curvature
    ahead, weight = x, 1.0
    for _ in range(_STEPS):
        moved = ahead - function.gradient(ahead) / curvature
        moved -= np.clip(moved, -shrink, shrink)
        if np.abs(moved - ahead).max() * curvature <= close:
            return moved
        if np.vdot(ahead - moved, moved - x) > 0:
            weight = 1.0
        after = (1.0 + np.sqrt(1.0 + 4.0 * weight**2)) / 2.0
        ahead, x, weight = moved + (weight - 1.0) / after * (moved - x), moved, after
    return x
