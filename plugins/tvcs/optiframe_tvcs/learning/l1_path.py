"""Rough fits along falling l1 penalties (Lasso): where to start looking for supports."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LinearModel
from optiframe.records.fields import Array
from optiframe_tvcs.learning.restricted import minimise_on

_LEVELS = np.geomspace(1.0, 1e-3, 41)[1:]  # of the penalty, of the one that leaves nothing
_STEPS = 60  # at one level: the support of a rough fit is as good a start
_CLOSE = 1e-2  # of a level: optimal up to so much


def l1_path(function: LinearModel, free: NDArray[np.bool_], most: int) -> Iterator[Array]:
    """Fits of the objective and an l1 penalty that falls, until more than `most` entries are not zero.

    Accelerated proximal gradient steps, started again where they turn against the gradient (Beck, Teboulle
    2009; O'Donoghue, Candes 2015), each level from the last. A step costs a gradient.

    Parameters
    ----------
    free
        Entries that are not penalised, of the point's shape.
    """
    x = minimise_on(function, free, np.zeros(function.shape))
    largest = float(np.abs(function.gradient(x)[~free]).max(initial=0.0))
    curvature = function.curvature()
    if largest == 0.0 or curvature <= 0.0:
        return
    for level in largest * _LEVELS:
        shrink = np.where(free, 0.0, level / curvature)
        ahead, weight = x, 1.0
        for _ in range(_STEPS):
            moved = ahead - function.gradient(ahead) / curvature
            moved -= np.clip(moved, -shrink, shrink)
            if np.abs(moved - ahead).max() * curvature <= _CLOSE * level:
                x = moved
                break
            if np.vdot(ahead - moved, moved - x) > 0:
                weight = 1.0
            after = (1.0 + np.sqrt(1.0 + 4.0 * weight**2)) / 2.0
            ahead, x, weight = moved + (weight - 1.0) / after * (moved - x), moved, after
        yield x
        if np.count_nonzero(x[~free]) > most:
            return
