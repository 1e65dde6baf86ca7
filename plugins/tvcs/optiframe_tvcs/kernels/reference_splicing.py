"""Searches for better supports of small dense tables, by the general ones of `learning.search`."""

from __future__ import annotations

import math
from functools import cache
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.problems.sets.vector_sets import Cardinality

LOSSES: tuple[type[LinearModel], ...] = (LeastSquares, Logistic, SquaredHinge)


@cache
def _ridged(loss: type[LinearModel]) -> type[LinearModel]:
    """The loss with a weight for the square of each entry."""

    class Ridged(loss):  # type: ignore[misc, valid-type]  # whichever loss it is
        weights: Any

        @property
        def ridge(self) -> Any:
            return self.weights

        def on_columns(self, indices: NDArray[np.intp]) -> Ridged:
            fields = {**dict(super().on_columns(indices)), "weights": self.weights[indices]}
            found: Ridged = type(self).model_construct(**fields)
            return found

    return Ridged


def _model(
    matrix: NDArray[np.float64],
    turned: bool,
    target: NDArray[np.float64],
    loss: int,
    ridge: NDArray[np.float64],
) -> LinearModel:
    fields: dict[str, Any] = {"matrix": matrix.T if turned else matrix, "target": target, "weights": ridge}
    return _ridged(LOSSES[loss]).model_construct(**fields)


class SmallSplicing:
    """Splicing over supports of at most `size` entries, and the last one besides where it is `free`.

    Parameters
    ----------
    matrix, target, ridge
        Of the linear model.
    turned
        Whether `matrix` is its transpose, as a matrix that lies by columns has one by rows.
    loss
        Its place among `LOSSES`.
    table, place
        Of least squares: all rows of the Hessian, that of column j being ``table[place[j]]``; else None.
    """

    def __init__(
        self,
        matrix: NDArray[np.float64],
        turned: bool,
        target: NDArray[np.float64],
        loss: int,
        ridge: NDArray[np.float64],
        table: NDArray[np.float64] | None,
        place: NDArray[np.int64] | None,
        size: int,
        free: bool,
        pursuit: int,
        width: int,
    ) -> None:
        # What these import asks for kernels.
        from optiframe_tvcs.learning.search import Search
        from optiframe_tvcs.learning.trials import trials
        from optiframe_tvcs.learning.with_intercept import WithIntercept

        self._end = math.inf
        over = Cardinality(size=size)
        function = _model(matrix, turned, target, loss, ridge)
        self._search = Search(
            function,
            WithIntercept(over=over) if free else over,
            trials(function, "auto", lambda: max(0.0, self._end - monotonic())),
            pursuit=pursuit,
            width=width,
        )

    def improved(self, x: NDArray[np.float64], value: float, seconds: float) -> float:
        """Makes `x`, of this value, a better fit, and returns its value.

        The same value where none was found before so many seconds were over; nan where the compiled kernel
        needs another method, as columns are alike.
        """
        self._end = monotonic() + seconds
        if (better := self._search.improved(x, value)) is None:
            return value
        x[:], value = better
        return value


def newton(
    matrix: NDArray[np.float64],
    turned: bool,
    target: NDArray[np.float64],
    loss: int,
    ridge: NDArray[np.float64],
    at: NDArray[np.int64],
    x: NDArray[np.float64],
    accuracy: float,
    least: float,
    hessian: NDArray[np.float64] | None,
) -> bool:
    """Brings `x`, the entries of a point at the columns `at`, to the minimum over these.

    The first arguments are those of `SmallSplicing`, the last ones those of `restricted.minimise_on`. False
    where the compiled kernel needs another method, as the Hessian is nearly singular; `x` is then unchanged.
    """
    from optiframe_tvcs.learning.restricted import newton_method  # which asks for kernels

    function = _model(matrix, turned, target, loss, ridge).on_columns(at)
    x[:] = newton_method(
        function, x, lambda: math.inf, accuracy=accuracy, least=least, by_matrix=True, hessian=hessian
    )
    return True


def lasso(
    table: NDArray[np.float64],
    place: NDArray[np.int64],
    right: NDArray[np.float64],
    penalty: NDArray[np.float64],
    x: NDArray[np.float64],
    close: float,
    passes: int,
) -> None:
    """Lowers ``x' H x / 2 - right' x + penalty' |x|`` by coordinate descent; row j of H is table[place[j]].

    A pass goes over the entries that are not zero or should not be. The last one is that in which no step,
    times its diagonal entry of H, is longer than `close`.
    """
    inside = np.flatnonzero(x)
    gradient = x[inside] @ table[place[inside]] - right
    diagonal = table[place, np.arange(len(x))]
    for _ in range(passes):
        longest = 0.0
        for j in np.flatnonzero(((x != 0) | (np.abs(gradient) > penalty)) & (diagonal > 0)).tolist():
            least = diagonal[j] * x[j] - gradient[j]
            step = np.copysign(max(abs(least) - penalty[j], 0.0), least) / diagonal[j] - x[j]
            x[j] += step
            gradient += step * table[place[j]]
            longest = max(longest, abs(step) * diagonal[j])
        if longest <= close:
            break
