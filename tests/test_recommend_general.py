"""Which solver the general problems recommend for their shape, and why."""

from __future__ import annotations

import numpy as np
import pytest

import optiframe as of
from optiframe import Composite, Minimize
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.solving.recommend import recommend

RNG = np.random.default_rng(0)
MATRIX, TARGET = RNG.normal(size=(30, 6)), RNG.normal(size=30)
FIT, LABELLED = LeastSquares(matrix=MATRIX, target=TARGET), Logistic(matrix=MATRIX, target=np.sign(TARGET))
COST = of.objective("linear", cost=np.ones(6))
BOX = {"name": "box", "lower": -1.0, "upper": 2.0}
ROWS = {"name": "polyhedron", "matrix": RNG.normal(size=(3, 6)), "upper": np.ones(3)}
BALL = {"name": "l2-ball", "radius": 1.0}
BLACK_BOX = of.from_function(lambda x: float(np.max(np.abs(np.asarray(x) - 1.0))), 6)
RESIDUALS = of.from_residuals(lambda x: x[:3] * x[3:] - 1.0, 6)
SHAPES = {
    "smooth": (Minimize(LABELLED), "scipy.lbfgs", "a gradient"),
    "bounds": (Minimize(LABELLED, over=BOX), "scipy.lbfgs", "at most bounds"),
    "a set with a projection": (Minimize(LABELLED, over=BALL), "gradient.projected", "projection"),
    "linear": (Minimize(COST, over=[BOX, ROWS]), "scipy.linprog", "are linear"),
    "integer": (Minimize(COST, over={"name": "integers", "lower": 0.0, "upper": 3.0}), "scipy.milp", "whole"),
    "quadratic": (Minimize(FIT, over=[BOX, ROWS]), "cvxpy", "is quadratic"),
    "least squares": (Minimize(RESIDUALS, over=BOX), "scipy.least-squares", "squared residuals"),
    "black box": (Minimize(BLACK_BOX, over=BOX), "scipy.cobyqa", "values only"),
    "Lasso": (Composite(FIT, plus={"name": "l1", "weight": 0.1}), "coordinate.lasso", "absolute values"),
    "prox-friendly": (
        Composite(LABELLED, plus={"name": "l1", "weight": 0.1}),
        "gradient.proximal",
        "proximal",
    ),
    "a sum without a step": (
        Composite(FIT, over=[BALL, ROWS], plus={"name": "l1", "weight": 0.1}),
        "cvxpy",
        "written for CVXPY",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_each_shape_has_a_solver_a_reason_and_an_answer(shape: str) -> None:
    problem, name, reason = SHAPES[shape]
    chosen = recommend(problem)
    assert chosen.solver.name == name
    assert reason in chosen.reason
    result = of.solve(problem, budget={"iterations": 200}, progress=False)
    assert result.findings[0].text.startswith(f"{name} was chosen because")
    assert result.violation <= 1e-5
