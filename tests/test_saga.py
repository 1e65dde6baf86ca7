"""SAGA: the contract, the same answers as with full gradients, and the same bits for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

import optiframe as of
from optiframe import Composite, Minimize, Status, Unsuited
from optiframe.methods.saga import Blocks, Saga
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.multinomial import Multinomial
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.testing import SolverContract

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(203, 8))
LABELS = np.sign(MATRIX @ RNG.normal(size=8) + RNG.normal(size=203))
SUMS = {
    "logistic": Logistic(matrix=MATRIX, target=LABELS),
    "ridge": LeastSquares(matrix=MATRIX, target=LABELS, l2=0.1),
    "multinomial": Multinomial(matrix=MATRIX, target=RNG.integers(0, 3, size=203)),
}


@pytest.mark.slow
class TestSaga(SolverContract):
    """On a fit with a penalty and one over a simplex, in blocks of different sizes."""

    solver = Saga(block=20)

    def instances(self):
        lasso = Composite(SUMS["ridge"], plus={"name": "l1", "weight": 0.01})
        return [lasso, Minimize(SUMS["ridge"], over="simplex")]


@pytest.mark.slow
@pytest.mark.parametrize("name", SUMS)
def test_it_finds_what_full_gradients_find(name: str) -> None:
    problem = Composite(SUMS[name], plus={"name": "l1", "weight": 0.02})
    exact = of.solve(problem, "gradient.proximal", budget={"tolerance": 1e-9}, progress=False)
    result = of.solve(problem, Saga(block=7), budget={"tolerance": 1e-7}, progress=False)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(exact.objective, abs=1e-9)


def test_the_mean_of_the_blocks_is_the_sum_whatever_their_sizes() -> None:
    function, x = SUMS["logistic"], RNG.normal(size=8)
    blocks = Blocks(function, 20, np.random.default_rng(1))
    mean = sum(blocks.gradient(i, x) for i in range(len(blocks))) / len(blocks)
    assert mean == pytest.approx(function.gradient(x), abs=1e-14)


def test_an_objective_that_is_no_sum_is_refused() -> None:
    with pytest.raises(Unsuited, match="is not a sum of many terms"):
        of.solve(Minimize(SquaredDistance(to=[1.0, 2.0])), "stochastic.saga")
