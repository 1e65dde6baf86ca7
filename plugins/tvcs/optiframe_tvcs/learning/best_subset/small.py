"""Splicing by a compiled kernel, where the table is dense and small and any support of a size will do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.records.fields import Array
from optiframe_tvcs.kernels import reference_splicing as reference
from optiframe_tvcs.kernels.splicing import SmallSplicing
from optiframe_tvcs.learning.best_subset.search import Search
from optiframe_tvcs.learning.dense import dense_table
from optiframe_tvcs.learning.with_intercept import counted

_PRODUCTS = 1 << 30  # of entries, for all rows of the Hessian of least squares: in a tenth of a second


class SmallSearch:
    """The searches of `Search` by the kernel, and by that itself where columns are alike."""

    def __init__(self, compiled: reference.SmallSplicing, general: Search) -> None:
        self._compiled, self._general, self.trying = compiled, general, general.trying

    def improved(self, x: Array, value: float) -> tuple[Array, float] | None:
        """As of `Search`."""
        better = np.array(x)
        ahead = self._compiled.improved(better, value, self.trying.time_left())
        if np.isnan(ahead):
            return self._general.improved(x, value)
        return (better, ahead) if ahead < value else None


def small_search(problem: Minimize, general: Search) -> SmallSearch | None:
    """The kernel's search in place of a general one; None where that does not fit, or was not built."""
    function, bound = problem.function, counted(problem.over)
    dense = dense_table(function)
    if bound is None or dense is None or not general.trying.pairs:
        return None
    table = place = None
    if isinstance(function, LeastSquares):
        if (whole := whole_hessian(function)) is None:
            return None
        table, place = whole
    return SmallSearch(SmallSplicing(*dense, table, place, *bound, general.pursuit, general.width), general)


def whole_hessian(function: LeastSquares) -> tuple[Array, NDArray[np.intp]] | None:
    """All rows of the Hessian and the place of each; None where they cost too much time or memory."""
    rows, columns = function.matrix.shape
    return function.hessian_rows(np.zeros(columns)).whole() if rows * columns**2 <= _PRODUCTS else None
