"""Duality gaps: never below the true gap, zero at the optimum, in the trace of every solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optiframe as of
from optiframe import Composite, Minimize
from optiframe.problems.objectives.losses import LeastSquares, Logistic, SquaredHinge
from optiframe.problems.regularizers.norms import L0, L1, ElasticNet, GroupL1, SquaredL2, TotalVariation
from optiframe.problems.sets.vector_sets import Box, L1Ball, L2Ball, LInfBall, Simplex

PLUS = {
    "l1": L1(weight=0.1),
    "l1 and squared-l2": [L1(weight=0.1), SquaredL2(weight=0.2)],
    "elastic-net": ElasticNet(weight=0.1),
    "group-l1": GroupL1(weight=0.2, groups=[0, 0, 1, 1, 2, 2]),
    "squared-l2": SquaredL2(weight=0.1),
}
OVER = {
    "simplex": Simplex(),
    "l1": L1Ball(radius=0.5),
    "l2": L2Ball(radius=0.5),
    "linf": LInfBall(radius=0.2),
}


def model(loss: type, l2: float) -> LeastSquares:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(40, 6))
    target = matrix @ rng.normal(size=6) + rng.normal(size=40)
    return loss(matrix=matrix, target=target if loss is LeastSquares else np.sign(target), l2=l2)


def problems(loss: type, l2: float) -> list[Composite]:
    function = model(loss, l2)
    return [
        *(Composite(function, plus=plus) for plus in PLUS.values()),
        *(Minimize(function, over=over) for over in OVER.values()),
    ]


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("loss", [LeastSquares, Logistic, SquaredHinge])
def test_the_gap_bounds_the_true_one_and_closes_at_the_optimum(loss: type, l2: float) -> None:
    rng = np.random.default_rng(1)
    for problem in problems(loss, l2):
        budget = {"tolerance": 1e-9, "iterations": 5000}
        best = of.solve(problem, "gradient.proximal", budget=budget, progress=False)
        assert best.duality_gap <= 1e-7 * max(1.0, abs(best.objective))
        for size in (1e-3, 0.1, 10.0):
            x = problem.over.project(best.solution + size * rng.normal(size=6))
            assert problem.duality_gap(x) >= problem.objective(x) - best.objective - 1e-12


@pytest.mark.parametrize("loss", [LeastSquares, Logistic, SquaredHinge])
@given(seed=st.integers(0, 1000))
def test_conjugates_of_losses_bound_products_and_touch_at_the_slope(loss: type, seed: int) -> None:
    function, rng = model(loss, 0.0), np.random.default_rng(seed)
    z, u = 2 * rng.normal(size=40), rng.normal(size=40)
    assert (u * z <= function.losses(z) + function.conjugates(u) + 1e-12).all()
    slopes = function.slopes(z)
    np.testing.assert_allclose(
        function.losses(z) + function.conjugates(slopes), slopes * z, rtol=1e-9, atol=1e-12
    )


def test_the_trace_of_every_solver_has_the_gap_where_the_problem_tells() -> None:
    lasso = Composite(model(LeastSquares, 0.0), plus=L1(weight=0.1))
    for name in ("gradient.proximal", "scipy.lbfgs"):
        result = of.solve(lasso, name, progress=False)
        assert result.trace["duality_gap"][-1] == pytest.approx(result.duality_gap, rel=1e-6, abs=1e-12)
        assert result.trace["duality_gap"][0] > result.trace["duality_gap"][-1]


def test_no_gap_is_claimed_where_none_is_known() -> None:
    fit = model(LeastSquares, 0.0)
    unknown = of.from_function(lambda x: float(x @ x), 6, gradient=lambda x: 2 * x)
    for problem in (
        Minimize(fit),
        Minimize(fit, over=Box(lower=0.0)),
        Minimize(unknown, over=Simplex()),
        Composite(fit, plus=L0()),
        Composite(fit, plus=[L1(), TotalVariation()]),
        Composite(fit, plus=L1(), over=Box(lower=0.0)),
    ):
        assert problem.duality_gap(np.full(6, 1 / 6)) is None


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_no_small_gap_is_claimed_where_numbers_overflow() -> None:
    huge = LeastSquares(matrix=[[1e200, 1.0], [1.0, 1.0]], target=[1.0, 2.0])
    assert Minimize(huge, over=Simplex()).duality_gap(np.array([1e200, 1e200])) == np.inf
    assert Composite(huge, plus=L1()).duality_gap(np.array([1e200, 1e200])) in (None, np.inf)
