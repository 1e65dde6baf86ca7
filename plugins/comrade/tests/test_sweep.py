"""One reading of a dense matrix: every way of it gives what the model's own operations give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_comrade.baselines.exact import Exact
from optiframe_comrade.local import sweep
from optiframe_comrade.local.newton import minimum
from optiframe_comrade.local.step import newton_step
from optiframe_comrade.local.sweep import Precision, Sweep

import optiframe
from optiframe import Minimize
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge

from .classification_twins import planted


def model(kind: type[LinearModel], rows: int, columns: int, l2: float = 0.1, seed: int = 0) -> LinearModel:
    f = planted(rows, columns, l2, seed)
    return kind(matrix=f.matrix, target=f.target, l2=l2)


@settings(max_examples=25)
@given(
    kind=st.sampled_from([Logistic, LeastSquares, SquaredHinge]),
    rows=st.integers(1, 60),
    columns=st.integers(1, 8),
    precision=st.sampled_from(["single", "double", "auto"]),
    by_columns=st.booleans(),
    height=st.integers(1, 20),
    seed=st.integers(0, 99),
)
def test_a_sweep_gives_what_the_model_says(  # noqa: PLR0917  # hypothesis calls it by name
    kind: type[LinearModel],
    rows: int,
    columns: int,
    precision: Precision,
    by_columns: bool,
    height: int,
    seed: int,
) -> None:
    f = model(kind, rows, columns, seed=seed)
    if by_columns:
        f = kind(matrix=np.asfortranarray(f.matrix), target=f.target, l2=f.l2)
    x = np.random.default_rng(seed).standard_normal(columns)
    passes = Sweep(f, precision)
    passes.height = min(rows, height)  # blocks, the last of them short
    here = passes.at(x)
    assert here.value == pytest.approx(f.value(x), rel=1e-13)
    np.testing.assert_allclose(here.predictions, f.matrix @ x, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(here.gradient, f.gradient(x), rtol=1e-11, atol=1e-13)
    exact = f.hessian(x)
    error = 1e-6 if precision == "single" else 1e-12
    np.testing.assert_allclose(here.hessian, exact, atol=error * np.abs(exact).max())
    np.testing.assert_allclose(passes.gradient(x), f.gradient(x), rtol=1e-11, atol=1e-13)
    origin = np.zeros(columns)
    np.testing.assert_allclose(passes.gradient(origin), f.gradient(origin), rtol=1e-11, atol=1e-13)
    again = passes.at(x, f.matrix @ x)
    np.testing.assert_allclose(again.gradient, here.gradient, rtol=1e-11, atol=1e-13)
    step = passes.step(here, here.gradient)
    np.testing.assert_allclose(
        step, np.linalg.solve(exact, f.gradient(x)), rtol=1e3 * error, atol=1e3 * error
    )


def ill_conditioned(spread: float) -> Logistic:
    f = planted(3000, 6, 0.0)
    return Logistic(matrix=f.matrix * np.geomspace(1.0, spread, 6), target=f.target, l2=1e-30)


def test_a_hessian_too_close_to_singular_is_computed_again_in_double_precision() -> None:
    f, x = ill_conditioned(1e-6), np.zeros(6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "_WORTH_SINGLE", 0)
        passes = Sweep(f)
    here = passes.at(x)
    assert here.single
    np.testing.assert_allclose(f.hessian(x) @ passes.step(here, here.gradient), here.gradient, rtol=1e-5)
    assert not passes.at(x).single  # and so are those that follow


def test_numbers_beyond_single_precision_are_no_harm() -> None:
    f, x = ill_conditioned(1e40), np.zeros(6)  # squares overflow in single precision
    passes = Sweep(f, "single")
    here = passes.at(x)
    assert np.isfinite(passes.step(here, here.gradient)).all()


@pytest.mark.parametrize("precision", ["single", "double"])
def test_newton_goes_to_the_same_point_whatever_the_precision_of_its_hessian(precision: Precision) -> None:
    f = planted(4000, 5, 1e-3)
    result = optiframe.solve(Minimize(f), Exact(hessian=precision), budget={"tolerance": 1e-14})
    assert result.status == "converged"
    np.testing.assert_allclose(result.solution, minimum(f), rtol=1e-10)
    assert result.iterations <= 8


def test_a_step_too_long_is_shortened_on_the_predictions() -> None:
    # From far away a full step of logistic regression overshoots.
    f = planted(400, 3, 1e-4)
    start = np.full(3, 40.0)
    result = optiframe.solve(Minimize(f), Exact(), start=start, budget={"tolerance": 1e-10, "iterations": 60})
    assert min(result.trace["step"]) < 1
    np.testing.assert_allclose(result.solution, minimum(f), atol=1e-7)


def test_a_large_shard_is_read_in_single_precision() -> None:
    f = planted(30_000, 40, 1e-3)
    x = np.full(40, 0.01)
    assert Sweep(f).single
    np.testing.assert_allclose(newton_step(f, x), np.linalg.solve(f.hessian(x), f.gradient(x)), rtol=1e-4)
