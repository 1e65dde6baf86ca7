"""celer's Lasso path over the outliers of comparisons."""

from __future__ import annotations

import numpy as np
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.problem import PairwiseRanking

from optiframe.records.fields import Array
from optiframe_peers.libraries import library
from optiframe_peers.regression.outlier_lasso import OutlierLasso, on_cycles, too_many


class CelerLassoPath(OutlierLasso):
    """celer's `celer_path` (working sets, dual extrapolation) on the cycle space, a dense matrix of rows^2.

    Its tolerance is on the duality gap, relative to the squared length of the target.
    """

    name = "celer.lasso-path"
    reference = "Xu et al., Eq. 7; Massias, Gramfort, Salmon 2018, Celer"
    requires = ("celer",)

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return super().unsuited(problem) or too_many(problem.graph)

    def gammas(self, graph: ComparisonGraph, levels: Array) -> Array:
        celer_path = library("celer").celer_path
        matrix, target = on_cycles(graph)
        alphas = levels / len(target)  # its objective is divided by the number of rows
        found = celer_path(matrix, target, pb="lasso", alphas=alphas, tol=self.tolerance, max_iter=100)
        return np.asarray(found[1])
