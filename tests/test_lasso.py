"""The Lasso on working sets: the contract, CVXPY's and FISTA's answers, and what it cannot take."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import optiframe as of
from optiframe import Composite, Status, Unsuited
from optiframe.methods.lasso import WorkingSetLasso
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.testing import SolverContract

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(80, 200))
TARGET = MATRIX[:, :5] @ [3.0, -2.0, 1.0, 2.0, -1.0] + 0.1 * RNG.normal(size=80)
L1 = {"name": "l1", "weight": 0.2}


class TestWorkingSetLasso(SolverContract):
    """On a small Lasso, dense and sparse, whose first working set is too small."""

    solver = WorkingSetLasso(first=2)

    def instances(self):
        problem = Composite(LeastSquares(matrix=MATRIX, target=TARGET), plus=L1)
        sparse = Composite(LeastSquares(matrix=sp.csr_array(MATRIX), target=TARGET), plus=L1)
        return [problem, sparse]


def correlated() -> LeastSquares:
    mixing = 0.9 ** np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    matrix = RNG.normal(size=(50, 60)) @ np.linalg.cholesky(mixing).T
    return LeastSquares(matrix=matrix, target=matrix[:, ::10].sum(axis=1) + RNG.normal(size=50))


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1.0, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("plus", [[], [{"name": "squared-l2", "weight": 0.05}]], ids=["lasso", "elastic-net"])
def test_its_answer_is_optimal_by_the_gap_of_the_problem(weight: float, plus: list) -> None:
    problem = Composite(correlated(), plus=[{"name": "l1", "weight": weight}, *plus])
    result = of.solve(problem, WorkingSetLasso(first=3), budget={"tolerance": 1e-10}, progress=False)
    assert result.status is Status.CONVERGED
    assert result.duality_gap == pytest.approx(result.trace["residual"][-1], abs=1e-12)
    slow = of.solve(problem, "gradient.proximal", budget={"tolerance": 1e-9}, progress=False)
    assert result.objective <= slow.objective + 1e-9


def test_equal_columns_and_columns_of_zeros_are_taken() -> None:
    matrix = np.hstack([MATRIX[:, :6], MATRIX[:, :6], np.zeros((80, 2))])
    problem = Composite(LeastSquares(matrix=matrix, target=TARGET), plus={"name": "l1", "weight": 0.01})
    start = np.ones(14)
    result = of.solve(problem, WorkingSetLasso(), start=start, budget={"tolerance": 1e-10}, progress=False)
    assert result.status is Status.CONVERGED
    assert result.solution[-2:].tolist() == [0.0, 0.0]


def test_a_gap_below_rounding_ends_stalled_and_not_at_the_limit() -> None:
    problem = Composite(LeastSquares(matrix=MATRIX, target=1e6 * TARGET), plus={"name": "l1", "weight": 1e3})
    with pytest.warns(of.NotConverged, match="no column lowers the objective"):
        result = of.solve(problem, WorkingSetLasso(), budget={"tolerance": 0.0}, progress=False)
    assert result.status is Status.STALLED
    assert result.duality_gap <= 1e-10 * result.objective


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (Composite(Logistic(matrix=MATRIX, target=np.sign(TARGET)), plus=L1), "must be 'least-squares'"),
        (Composite(correlated(), plus=L1, over="non-negative"), "takes no constraints"),
        (Composite(correlated(), plus="squared-l2"), "must be l1 with a positive weight"),
        (Composite(correlated(), plus={"name": "l1", "weight": 0.0}), "must be l1 with a positive weight"),
    ],
)
def test_what_is_no_lasso_is_refused_with_the_reason(problem: Composite, reason: str) -> None:
    with pytest.raises(Unsuited, match=reason):
        of.solve(problem, "coordinate.lasso")
