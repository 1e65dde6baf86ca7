"""Networks by ensembles of trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from optiframe_tvcs.networks.problem import NetworkIdentification
from pydantic import Field, PositiveInt

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.genes.edges import EdgeScores, regulators, standardised
from optiframe_peers.libraries import library

_ROUND = 10  # trees for each gene between two looks at the clock


class Genie3(EdgeScores):
    """GENIE3: each gene's changes are predicted by a forest over the levels of the others.

    The score of an edge is how much of the target's variance the splits at the source take away, over
    all trees; targets have variance 1, so that scores of different targets compare. The inputs are
    the levels one step before, the outputs the changes. A gene's own level is an input where the problem
    has `own_effects`. An iterate is ten more trees for every gene.

    Costs about trees x N x K x T log T, with K the inputs tried at a split.
    """

    name = "genes.genie3"
    reference = "Huynh-Thu, Irrthum, Wehenkel, Geurts 2010, PLoS ONE 5(9), e12776"
    requires = ("scikit-learn:sklearn.ensemble",)

    trees: PositiveInt = Field(default=1000, description="trees for each gene")
    method: Literal["random-forest", "extra-trees"] = Field(
        default="random-forest", description="the ensemble"
    )
    candidates: Literal["sqrt", "all"] | Annotated[int, Field(ge=1)] = Field(
        default="sqrt", description="inputs tried at a split: the root of their number, all, or so many"
    )

    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        states = np.ascontiguousarray(problem.expression.states.T, dtype=np.float32)  # what trees take
        outputs = standardised(problem.expression.changes, problem.expression.states)
        total, grown = np.zeros((len(outputs), len(outputs))), 0
        while grown < self.trees:
            more = min(_ROUND, self.trees - grown)
            for gene, output in enumerate(outputs):
                inputs = regulators(problem, gene)
                if output.any():
                    total[gene, inputs] += self._importances(states[:, inputs], output, more, run)
            grown += more
            yield total / grown, grown == self.trees

    def _importances(self, inputs: Any, output: Array, trees: int, run: Run) -> Array:
        """Variance taken away at each input, summed over new trees; not made to sum to 1."""
        ensembles = library("sklearn.ensemble")
        forest = (
            ensembles.RandomForestRegressor
            if self.method == "random-forest"
            else ensembles.ExtraTreesRegressor
        )
        tried: Any = {"sqrt": "sqrt", "all": None}.get(str(self.candidates), self.candidates)
        if isinstance(tried, int):
            tried = min(tried, inputs.shape[1])
        seed = int(run.rng.integers(2**31))
        grown = forest(trees, max_features=tried, random_state=seed).fit(inputs, output)
        each = [tree.tree_.compute_feature_importances(normalize=False) for tree in grown.estimators_]
        return np.asarray(np.sum(each, axis=0))
