"""LASSO+L2: flag by Huber-LASSO, then least squares without the flagged comparisons."""

from __future__ import annotations

import numpy as np

from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso, Knot
from optiframe_hodgerank.solvers.thresholding import warn_of_parts, without
from optiframe_hodgerank.stopping.stop_rule import why_so_many


class HuberLassoRefit(HuberLasso):
    """LASSO+L2: the comparisons `hodge.hlasso` flags are left out, and scores fitted without them.

    Takes the bias out of Huber-LASSO's scores, which every flagged comparison still pulls by
    lambda. Outliers are then the whole misfit of the flagged comparisons. `Result.detail` is the
    path of Huber-LASSO, whose scores are not refitted. Where the others no longer hold the items
    together, scores sum to zero in each part, and a warning says so.
    """

    name = "hodge.hlasso-l2"
    reference = "Xu et al., Secs. 3.3.2 and 5.2"

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        told = False
        for iterate in super().iterates(problem, run):
            knot: Knot = iterate.x
            if not told and iterate.residual <= run.budget.tolerance:
                kept = without(problem.graph, np.where(knot.path.flagged, 0.0, 1.0))
                if kept.components.max() > problem.graph.components.max():
                    told = True
                    run.warn(warn_of_parts(kept), identifier="ranking.disconnected-without-outliers")
            yield iterate

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        knot: Knot = iterate.x
        path, graph = knot.path, problem.graph
        kept = without(graph, np.where(path.flagged, 0.0, 1.0))
        scores = kept.scores(kept.margin)
        huber = graph.margin - graph.differences(knot.scores)
        misfit = graph.margin - graph.differences(scores)
        return problem.ranking(
            scores,
            outliers=np.where(path.flagged, misfit, 0.0),
            entry=path.entries(),
            strength=path.strength(np.minimum(np.abs(huber), knot.level)),
            why=why_so_many(self, problem, path, self._share, knot.level),
        )
