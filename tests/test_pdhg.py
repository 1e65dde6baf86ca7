"""Primal-dual hybrid gradients: the contract, HiGHS's and CVXPY's answers, and what it cannot take."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import optiframe as of
from optiframe import Composite, Minimize, Status, Unsuited
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.quadratic import Linear
from optiframe.testing import SolverContract

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(10, 20))
INSIDE = RNG.uniform(size=20)
BOX = {"name": "box", "lower": 0.0, "upper": 2.0}
OVER = [BOX, {"name": "polyhedron", "matrix": ROWS, "upper": ROWS @ INSIDE}]
FIT = LeastSquares(matrix=RNG.normal(size=(10, 20)), target=RNG.normal(size=10))
BUDGET = {"iterations": 50_000}


@pytest.mark.slow
class TestPrimalDualHybridGradient(SolverContract):
    """On the small problems that have linear constraints."""

    solver = "primal-dual.pdhg"


@pytest.mark.parametrize("scale", [1.0, 1e3], ids=["plain", "badly scaled"])
def test_it_finds_the_vertex_of_a_linear_program(scale: float) -> None:
    factors = np.geomspace(1, scale, 10)[:, None]  # of rows
    rows = {
        "name": "polyhedron",
        "matrix": sp.csr_array(factors * ROWS),
        "upper": factors[:, 0] * (ROWS @ INSIDE),
    }
    problem = Minimize(Linear(cost=RNG.normal(size=20)), over=[BOX, rows])
    exact = of.solve(problem, "scipy.linprog", progress=False)
    result = of.solve(problem, "primal-dual.pdhg", budget=BUDGET, progress=False)
    assert result.status is Status.CONVERGED
    assert result.violation <= 1e-6
    assert result.objective == pytest.approx(exact.objective, abs=1e-5)


def test_equations_and_open_bounds_are_taken() -> None:
    over = [{"name": "affine", "matrix": ROWS, "target": ROWS @ INSIDE}, {"name": "box", "lower": 0.0}]
    problem = Minimize(Linear(cost=1 + INSIDE), over=over)
    exact = of.solve(problem, "scipy.linprog", progress=False)
    result = of.solve(problem, "primal-dual.pdhg", budget=BUDGET, progress=False)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(exact.objective, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("plus", [[], "squared-l2", {"name": "l1", "weight": 0.05}], ids=["none", "l2", "l1"])
def test_it_finds_what_an_interior_point_method_finds(plus) -> None:
    problem = Composite(FIT, over=OVER, plus=plus)
    exact = of.solve(problem, "cvxpy", progress=False)
    result = of.solve(problem, "primal-dual.pdhg", budget=BUDGET, progress=False)
    assert result.status is Status.CONVERGED
    assert result.violation <= 1e-6
    assert result.objective == pytest.approx(exact.objective, abs=1e-6)


def test_a_regularizer_of_a_matrix_goes_with_rows() -> None:
    over = {"name": "half-space", "normal": np.eye(3).reshape(-1), "offset": 1.0}
    problem = Composite(
        {"name": "squared-distance", "to": np.diag([3.0, 2.0, 0.1])}, over=over, plus="nuclear-norm"
    )
    exact = of.solve(problem, "cvxpy", progress=False)
    result = of.solve(problem, "primal-dual.pdhg", budget=BUDGET, progress=False)
    assert result.objective == pytest.approx(exact.objective, abs=1e-5)


@pytest.mark.slow
def test_an_unbounded_program_does_not_end_converged() -> None:
    problem = Minimize(Linear(cost=[-1.0, -1.0]), over="non-negative")
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, "primal-dual.pdhg", progress=False)
    assert result.status is not Status.CONVERGED


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (Minimize(FIT, over={"name": "l2-ball", "radius": 1.0}), "not given by linear constraints"),
        (Minimize(FIT, over="integers"), "must be whole numbers"),
        (Minimize({"name": "quadratic", "matrix": [[-1.0]], "linear": [0.0]}, over=BOX), "must be convex"),
        (Minimize(Logistic(matrix=ROWS, target=np.ones(10))), "has no quadratic"),
        (Composite(FIT, over=BOX, plus={"name": "group-l1", "groups": [0] * 20}), "no exact proximal step"),
    ],
)
def test_what_it_cannot_take_is_refused_with_the_reason(problem: Composite, reason: str) -> None:
    with pytest.raises(Unsuited, match=reason):
        of.solve(problem, "primal-dual.pdhg")
