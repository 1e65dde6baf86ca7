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

from .path_twins import columns


def drawn(seed: int, **more: Any) -> PairwiseRanking:
    rows = columns(seed, 5, 25, "tenths", (1.0, 2.0))
    rows["margin"][::9] += 3.0
    return PairwiseRanking(comparisons=rows, **{"outlier_price": 0.8, **more})


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
    check_derivatives(drawn(0).formulation.problem.function, np.array([0.313, -0.227, 0.139, 0.571, -0.443]))


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": [0.5, 0]}, "left: must be a vector of whole numbers"),
        ({"right": [1, 5]}, "right: entry 1 is 5; places in x go from 0 to 2"),
        ({"left": [-1, 0]}, "left: entry 0 is -1; places in x go from 0 to 2"),
        ({"margin": [1.0]}, "margin: has 1 entries, and left has 2"),
        ({"weight": [1.0, -1.0]}, "weight: entry 1 is -1; a weight is 0 or more"),
    ],
)
def test_rows_of_the_loss_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    rows = {"left": [0, 0], "right": [1, 2], "margin": [1.0, 2.0], "weight": [1.0, 1.0]}
    with pytest.raises(InvalidInput, match=message):
        HuberDifferences(items=3, price=1.0, **{**rows, **changes})
