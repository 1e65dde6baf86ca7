"""Random linear programs with a known answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from pydantic import Field, NonNegativeInt, PositiveInt

from optiframe import DataSet
from optiframe.problems.objectives.quadratic import Linear
from optiframe.problems.sets.intersection import Intersection
from optiframe.problems.sets.linear_sets import Polyhedron
from optiframe.problems.sets.vector_sets import NonNegative


class LinearProgram(DataSet):
    """Minimize c'x over x >= 0 and A x <= b, made around an answer: the only one where A is not too sparse.

    A is sparse and Gaussian. Half as many entries of the answer as there are rows are positive, and as many
    rows are tight there: the costs follow from prices of the tight rows, so that both answers fit together.
    """

    name = "synthetic.linear-program"
    problem = "minimize"
    reference = "complementary slackness: Dantzig 1963"

    rows: PositiveInt = Field(default=100, description="rows of A; at least 2")
    variables: PositiveInt = Field(default=200, description="entries of x")
    density: float = Field(default=0.1, gt=0, le=1, description="share of entries of A that are not zero")
    seed: NonNegativeInt = Field(default=0, description="seed of the random numbers")

    def inputs(self) -> dict[str, Any]:
        rng = np.random.default_rng(self.seed)
        matrix = sp.random_array(
            (self.rows, self.variables), density=self.density, rng=rng, data_sampler=rng.standard_normal
        ).tocsr()
        support = min(self.rows, self.variables) // 2
        x, prices = np.zeros(self.variables), np.zeros(self.rows)
        x[rng.permutation(self.variables)[:support]] = rng.uniform(1.0, 2.0, support)
        prices[rng.permutation(self.rows)[:support]] = rng.uniform(1.0, 2.0, support)
        slack = np.where(prices > 0, 0.0, rng.uniform(1.0, 2.0, self.rows))
        reduced = np.where(x > 0, 0.0, rng.uniform(1.0, 2.0, self.variables))
        over = Intersection(
            sets=(
                NonNegative(),
                Polyhedron(matrix=matrix, lower=np.full(self.rows, -np.inf), upper=matrix @ x + slack),
            )
        )
        cost = reduced - matrix.T @ prices
        return {"objective": Linear(cost=cost), "over": over, "optimum": float(cost @ x)}
