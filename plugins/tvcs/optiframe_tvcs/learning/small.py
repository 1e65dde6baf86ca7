"""Splicing by a compiled kernel, where the table is dense and small and any support of a size will do."""

from __future__ import annotations

import numpy as np

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.reference_splicing import LOSSES
from optiframe_tvcs.kernels.reference_splicing import SmallSplicing as Reference
from optiframe_tvcs.kernels.splicing import SmallSplicing
from optiframe_tvcs.learning.search import Search
from optiframe_tvcs.learning.with_intercept import counted, free_intercept

_PRODUCTS = 1 << 30  # of entries, for all rows of the Hessian of least squares: in a tenth of a second


class SmallSearch:
    """The searches of `Search` by the kernel, and by that itself where columns are alike."""

    def __init__(self, compiled: Reference, general: Search) -> None:
        self._compiled, self._general = compiled, general

    def improved(self, x: Array, value: float) -> tuple[Array, float] | None:
        """As of `Search`."""
        better = np.array(x)
        ahead = self._compiled.improved(better, value, self._general.trying.time_left())
        if np.isnan(ahead):
            return self._general.improved(x, value)
        return (better, ahead) if ahead < value else None


def small_search(problem: Minimize, general: Search) -> SmallSearch | None:
    """The kernel's search in place of a general one; None where that does not fit, or was not built."""
    function, bound = problem.function, counted(problem.over)
    if SmallSplicing is Reference or bound is None or not isinstance(function, LinearModel):
        return None
    kinds = [type(function) in (loss, free_intercept(loss)) for loss in LOSSES]
    if True not in kinds or not general.trying.pairs:
        return None
    matrix = function.matrix
    turned = isinstance(matrix, np.ndarray) and not matrix.flags.c_contiguous
    if not isinstance(matrix, np.ndarray) or (turned and not matrix.flags.f_contiguous):
        return None
    rows, columns = function.matrix.shape
    table = place = None
    if isinstance(function, LeastSquares):
        whole = function.hessian_rows(np.zeros(columns)).whole() if rows * columns**2 <= _PRODUCTS else None
        if whole is None:
            return None
        table, place = whole
    compiled = SmallSplicing(
        matrix.T if turned else matrix,
        turned,
        function.target,
        kinds.index(True),
        np.array(np.broadcast_to(function.ridge, columns), dtype=np.float64),
        table,
        place,
        *bound,
        general.pursuit,
        general.width,
    )
    return SmallSearch(compiled, general)
