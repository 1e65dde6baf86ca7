"""skglm's Lasso over scores and outliers of comparisons together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph

from optiframe.records.fields import Array
from optiframe_peers.libraries import library
from optiframe_peers.regression.incidence import incidence, narrow
from optiframe_peers.regression.outlier_lasso import OutlierLasso

_EPOCHS = 1000  # working sets; its own limit of 50 ends some cases early


class SkglmLasso(OutlierLasso):
    """skglm's working-set coordinate descent on [X I]: scores free, outliers under a weighted L1 penalty.

    The matrix stays sparse, so that rows may be many. Its tolerance is on the violation of the
    optimality conditions, here relative to lambda. The first run in a process compiles.
    """

    name = "skglm.lasso"
    reference = "Xu et al., Eq. 4; Bertrand et al. 2022, Beyond L1 (skglm)"
    requires = ("skglm",)

    def gammas(self, graph: ComparisonGraph, levels: Array) -> Array:
        datafits, penalties = library("skglm.datafits"), library("skglm.penalties")
        descent = library("skglm.solvers").AndersonCD
        rows, items = graph.rows, graph.items
        root = np.sqrt(graph.weight)
        wide = narrow(sp.csc_matrix(sp.hstack([incidence(graph, root), sp.diags_array(1 / root)])))
        target, free = root * graph.margin, np.concatenate([np.zeros(items), np.ones(rows)])
        found, last = np.zeros((rows, len(levels))), np.zeros(items + rows)
        for k, alpha in enumerate(levels / rows):  # its objective is divided by the number of rows
            solver = descent(
                tol=self.tolerance * alpha, fit_intercept=False, warm_start=True, max_iter=_EPOCHS
            )
            penalty = penalties.WeightedL1(alpha, free)
            last = solver.solve(wide, target, datafits.Quadratic(), penalty, last.copy(), wide @ last)[0]
            found[:, k] = last[items:]
        return found
