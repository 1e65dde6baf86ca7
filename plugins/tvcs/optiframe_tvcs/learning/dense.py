"""Linear models that the compiled kernels know: dense tables with one of three losses."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.counting import type_of
from optiframe_tvcs.kernels.splicing import newton
from optiframe_tvcs.learning.weighted import weighted

LOSSES: tuple[type[LinearModel], ...] = (LeastSquares, Logistic, SquaredHinge)
"""Those that kernels know, by number."""

ROWS = 2000
"""Labels up to which a table counts as small: of more, rows that agree are worth counting once."""


class DenseTable(NamedTuple):
    """What kernels take a linear model as; see `reference_splicing`."""

    matrix: Array
    turned: bool
    target: Array
    weights: Array
    loss: int
    ridge: Array


def dense_table(function: Objective) -> DenseTable | None:
    """The model for a kernel; None where no kernel knows it, or none was built."""
    kinds = [type_of(function) in (loss, weighted(loss)) for loss in LOSSES]
    if True not in kinds or not _kernels_run():
        return None
    model: Any = function
    matrix = model.matrix
    if not isinstance(matrix, np.ndarray) or (len(matrix) > ROWS and not isinstance(model, LeastSquares)):
        return None
    turned = not matrix.flags.c_contiguous
    if turned and not matrix.flags.f_contiguous:
        return None
    ridge = np.array(np.broadcast_to(model.ridge, model.shape), dtype=np.float64)
    given = getattr(model, "weights", None)
    weights = np.full(len(model), 1.0 / len(model)) if given is None else given / len(model)
    return DenseTable(matrix.T if turned else matrix, turned, model.target, weights, kinds.index(True), ridge)


@cache
def _kernels_run() -> bool:
    """Whether they were built, and SciPy has what they take from it: its own build may count in 64 bits."""
    one, at = np.ones(1), np.zeros(1, np.int64)
    try:
        return newton(one[:, np.newaxis], False, one, one, 0, one, at, np.zeros(1), 0.1, np.inf, None)
    except (ImportError, AttributeError, KeyError, ValueError):
        return False
