"""The principal-components Lasso on paired comparisons."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field

from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_EQUAL = 1e-9  # two eigenvalues so near are one, but for rounding


class PcLasso(Solver[PairwiseRanking, Ranking, None]):
    """PC-LASSO: least squares with an L1 penalty and one that leaves the first principal component alone.

    With the singular values d_1 >= d_2 >= ... of the weighted incidence matrix X and its right singular
    vectors V, minimizes

        |y - X theta|^2/2 + lambda |theta|_1 + mu/2 theta' V diag(d_1^2 - d_j^2) V' theta,

    all items one group, by cyclic coordinate descent on the Laplacian X'X: V diag(d_1^2 - d_j^2) V' is
    d_1^2 I - X'X. An iterate is one pass over the items; it costs O(items^2).

    As in the authors' package mu is given by how much stronger than the first component the second is
    shrunk: ratio = d_2^2/(d_2^2 + mu (d_1^2 - d_2^2)). The paper that has it as a column says neither
    ratio nor lambda; the defaults here are ours. Where every pair is compared equally often, all
    components but the constant one are equal, and it is the plain Lasso.
    """

    name = "pc-lasso"
    reference = "Tay, Friedman, Tibshirani 2018, arXiv 1810.04651; Xu et al., Sec. 5.1 (PCLASSO)"
    solves = PairwiseRanking
    residual_meaning = (
        "largest violation of the optimality conditions, over the lambda at which all scores are 0"
    )

    ratio: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.5, description="shrinkage of the second component next to the first; 1: the plain Lasso"
    )
    strength: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.01, description="lambda over the least one at which all scores are 0"
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        items, limit = len(problem.item_ids), 5000  # two matrices of 0.2 GB, and their eigenvalues
        return f"{items} items are more than {limit}, up to which it works" if items > limit else None

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph = problem.graph
        gram = graph.laplacian.toarray()
        along = graph.divergence(graph.weight * graph.margin)
        squares = np.sort(np.linalg.eigvalsh(gram))[::-1]
        first, second = squares[0], squares[1] if len(squares) > 1 else squares[0]
        apart = first > second * (1 + _EQUAL)
        mu = second * (1 / self.ratio - 1) / (first - second) if apart else 0.0
        curved = (1 - mu) * gram + mu * first * np.eye(len(gram))
        top = float(np.abs(along).max(initial=0.0)) or 1.0
        penalty, scores, slope = self.strength * top, np.zeros(len(gram)), along.copy()
        while True:
            for item, own in enumerate(curved.diagonal()):
                if own <= 0:  # an item without a comparison
                    continue
                aim = slope[item] + own * scores[item]
                moved = np.sign(aim) * max(abs(aim) - penalty, 0.0) / own
                if moved != scores[item]:
                    slope -= curved[item] * (moved - scores[item])
                    scores[item] = moved
            wrong = np.where(
                scores == 0,
                np.maximum(np.abs(slope) - penalty, 0.0),
                np.abs(slope - penalty * np.sign(scores)),
            )
            centred = graph.centred(scores)
            misfit = np.abs(graph.margin - graph.differences(centred))
            yield Iterate(problem.ranking(centred, strength=misfit), float(wrong.max()) / top)
