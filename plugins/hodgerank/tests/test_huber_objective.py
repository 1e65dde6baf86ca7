"""The problem with a price of outliers as a plain minimization: derivatives, CVXPY, and the way back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.huber.objective import HuberDifferences
from optiframe_hodgerank.problem import PairwiseRanking

from optiframe import InvalidInput, Status, solve, why_unsuited
from optiframe import solver as solver_named
from optiframe.testing import check_derivatives


def drawn(seed: int, **more: Any) -> PairwiseRanking:
    rng = np.random.default_rng(seed)
    left = rng.integers(5, size=25)
    right = (left + rng.integers(1, 5, size=25)) % 5
    margin = np.round(rng.standard_normal(25), 1) + 3.0 * (rng.random(25) < 0.1)
    weight = rng.choice([1.0, 2.0], 25)
    columns = {"left": left, "right": right, "margin": margin, "weight": weight}
    return PairwiseRanking(comparisons=columns, **{"outlier_price": 0.8, **more})


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_its_value_is_the_least_over_all_outliers(seed: int) -> None:
    problem = drawn(seed)
    loss = problem.formulation.problem.function
    x = np.random.default_rng(seed).standard_normal(5)
    answer = problem.from_scores(x)
    assert loss.value(x) == pytest.approx(problem.objective(answer), rel=1e-12)
    assert loss.value(x + 7.0) == pytest.approx(loss.value(x), rel=1e-12)
    for shift in (-0.01, 0.01):  # near outliers are no better
        near = replace(answer, outliers=answer.outliers + shift)
        assert problem.objective(near) >= problem.objective(answer)
    eigenvalues = np.linalg.eigvalsh(loss.hessian(x))
    assert eigenvalues[0] > -1e-12
    assert eigenvalues[-1] <= loss.curvature() + 1e-12


def test_its_derivatives_are_right() -> None:
    check_derivatives(drawn(0).formulation.problem.function, np.array([0.3, -0.2, 0.1, 0.55, -0.4]))


def test_plain_solvers_and_cvxpy_give_the_same_ranking() -> None:
    problem = drawn(1)
    by_cvxpy = solve(problem, "cvxpy").solution
    by_scipy = solve(problem, "scipy.lbfgs")
    assert np.allclose(by_scipy.solution.scores, by_cvxpy.scores, atol=1e-5)
    assert np.array_equal(by_scipy.solution.outliers != 0, by_cvxpy.outliers != 0)
    assert by_scipy.status is Status.CONVERGED
    again = solve(problem, "scipy.lbfgs", start=by_cvxpy)
    assert again.objective == pytest.approx(by_scipy.objective, rel=1e-8)


def test_without_a_price_there_is_nothing_to_minimize() -> None:
    assert "it solves 'minimize' problems" in str(
        why_unsuited(drawn(1, outlier_price=None), solver_named("scipy.lbfgs"))
    )


def test_codes_are_whole_numbers() -> None:
    with pytest.raises(InvalidInput, match="left: must be a vector of whole numbers"):
        HuberDifferences(items=2, left=[0.5], right=[1], margin=[1.0], weight=[1.0], price=1.0)
