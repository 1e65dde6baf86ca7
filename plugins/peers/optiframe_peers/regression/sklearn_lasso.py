"""scikit-learn's Lasso path over the outliers of comparisons."""

from __future__ import annotations

import numpy as np
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.problem import PairwiseRanking

from optiframe.records.fields import Array
from optiframe_peers.libraries import library
from optiframe_peers.regression.outlier_lasso import OutlierLasso, on_cycles, too_many


class SklearnLassoPath(OutlierLasso):
    """scikit-learn's `lasso_path` (coordinate descent) on the cycle space, by a dense matrix of rows^2.

    Its tolerance is on the duality gap, relative to the squared length of the target.
    """

    name = "sklearn.lasso-path"
    reference = "Xu et al., Eq. 7; Pedregosa et al. 2011, scikit-learn"
    requires = ("scikit-learn:sklearn.linear_model",)

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return super().unsuited(problem) or too_many(problem.graph)

    def gammas(self, graph: ComparisonGraph, levels: Array) -> Array:
        lasso_path = library("sklearn.linear_model").lasso_path
        matrix, target = on_cycles(graph)
        # Its objective is divided by the number of rows.
        found = lasso_path(matrix, target, alphas=levels / len(target), tol=self.tolerance, max_iter=100_000)
        return np.asarray(found[1])
