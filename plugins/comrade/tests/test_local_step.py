"""The local step: every way of computing it gives the same answer."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_comrade.local.per_sample import mean_of
from optiframe_comrade.local.products import conjugate_gradients
from optiframe_comrade.local.step import local_gradient, newton_step
from optiframe_comrade.local.symmetric import solve_symmetric, weighted_gram
from optiframe_comrade.messages import (
    GRADIENT,
    NEWTON_STEP,
    OBJECTIVE,
    STEP_WITH_GRADIENT,
    Broadcast,
)
from optiframe_comrade.protocol.answer import answer

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.testing import check_derivatives

from .classification_twins import gradient_row_by_row, hessian_row_by_row, planted


@settings(max_examples=25)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 12),
    l2=st.sampled_from([1e-3, 0.1]),
    sparse=st.booleans(),
    seed=st.integers(0, 99),
)
def test_both_ways_solve_the_row_by_row_system(
    rows: int, columns: int, l2: float, sparse: bool, seed: int
) -> None:
    f = planted(rows, columns, l2, seed)
    if sparse:
        f = Logistic(matrix=sp.csr_array(f.matrix), target=f.target, l2=l2)
    x = np.random.default_rng(seed).standard_normal(columns)
    slow = np.linalg.solve(hessian_row_by_row(f, x), gradient_row_by_row(f, x))
    for method in ("auto", "cholesky", "cg"):
        np.testing.assert_allclose(newton_step(f, x, method=method), slow, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", [Logistic, LeastSquares, SquaredHinge])
def test_a_given_gradient_takes_the_place_of_the_shards_own(model: type[LinearModel]) -> None:
    f = planted(60, 4)
    shard = model(matrix=f.matrix, target=f.target, l2=0.1)
    x, other = np.full(4, 0.3), np.arange(4.0)
    expected = np.linalg.solve(shard.hessian(x), other)
    for method in ("cholesky", "cg"):
        np.testing.assert_allclose(newton_step(shard, x, other, method), expected, rtol=1e-7)


@pytest.mark.parametrize("method", ["cholesky", "cg"])
@pytest.mark.parametrize("own", [True, False])
def test_fewer_rows_than_columns_without_l2_gives_the_pseudo_inverse(method: str, own: bool) -> None:
    f = planted(6, 15, l2=0.0)
    x = np.random.default_rng(1).standard_normal(15)
    right = f.gradient(x) if own else np.random.default_rng(2).standard_normal(15)
    expected = np.linalg.pinv(f.hessian(x), rcond=1e-10) @ right
    np.testing.assert_allclose(newton_step(f, x, right, method), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("kind", ["repeated", "empty", "one-hot"])
@pytest.mark.parametrize("sparse", [True, False])
def test_products_find_the_pseudo_inverse_where_columns_depend_on_each_other(
    kind: str, own: bool, sparse: bool
) -> None:
    rng = np.random.default_rng(5)
    columns = rng.standard_normal((60, 8))
    # Of repeated columns the second is twice the first, so that a preconditioner tells them apart.
    made = {
        "repeated": np.hstack([columns, 2 * columns[:, :3]]),
        "empty": np.hstack([columns, np.zeros((60, 2))]),
        "one-hot": np.hstack([np.eye(4)[rng.integers(0, 4, 60)], np.eye(3)[rng.integers(0, 3, 60)]]),
    }[kind]
    f = Logistic(matrix=sp.csr_array(made) if sparse else made, target=np.sign(rng.standard_normal(60)))
    x = rng.standard_normal(made.shape[1])
    right = f.gradient(x) if own else rng.standard_normal(len(x))  # in the range of H, or not
    expected = np.linalg.pinv(f.hessian(x), rcond=1e-10) @ right
    for method in ("cg", "cholesky"):
        np.testing.assert_allclose(newton_step(f, x, right, method), expected, rtol=1e-6, atol=1e-8)


def test_products_without_l2_stand_columns_of_very_different_size() -> None:
    rng = np.random.default_rng(6)
    matrix = rng.standard_normal((200, 40)) * np.logspace(0, 4, 40)
    f = LeastSquares(matrix=matrix, target=rng.standard_normal(200))
    x = np.zeros(40)
    expected = np.linalg.lstsq(matrix, -f.target)[0]
    np.testing.assert_allclose(newton_step(f, x, method="cg"), expected, rtol=1e-6)


def test_a_gradient_from_one_reading_is_that_of_the_objective() -> None:
    f = planted(60, 4)
    x = np.full(4, 0.3)
    for shard in (f, LeastSquares(matrix=f.matrix, target=f.target, l2=0.1)):
        np.testing.assert_allclose(local_gradient(shard, x), shard.gradient(x), rtol=1e-12)


def test_a_large_order_is_solved_by_products() -> None:
    rng = np.random.default_rng(3)
    matrix = sp.random_array((1100, 1200), density=0.01, rng=rng, format="csr")
    f = Logistic(matrix=matrix, target=np.sign(rng.standard_normal(1100)), l2=0.05)
    x = rng.standard_normal(1200)
    step = newton_step(f, x)
    np.testing.assert_allclose(f.hessian_product(x, step), f.gradient(x), atol=1e-9)
    np.testing.assert_allclose(step, newton_step(f, x, method="cholesky"), atol=1e-7)


def test_the_blocked_gram_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    # 7,000 rows of 40 columns take three blocks, the last of them short.
    for rows, columns in ((200, 3), (7000, 40), (1, 1)):
        matrix, weights = rng.standard_normal((rows, columns)), rng.random(rows)
        expected = matrix.T @ (weights[:, np.newaxis] * matrix) + 0.5 * np.eye(columns)
        np.testing.assert_allclose(weighted_gram(matrix, weights, 0.5), expected, atol=1e-10)
        sparse = weighted_gram(sp.csr_array(matrix), weights, 0.5)
        np.testing.assert_allclose(sparse, expected, atol=1e-10)


def test_a_singular_system_is_solved_by_least_squares() -> None:
    matrix = np.diag([2.0, 1.0, 0.0])
    np.testing.assert_allclose(solve_symmetric(matrix, np.array([2.0, 3.0, 5.0])), [1.0, 3.0, 0.0])
    np.testing.assert_array_equal(solve_symmetric(np.zeros((2, 2)), np.ones(2)), np.zeros(2))


def test_columns_in_units_far_apart_are_no_singular_system() -> None:
    f = planted(200, 4)
    plain, right = f.hessian(np.zeros(4)), np.arange(1.0, 5)
    units = np.array([1e-9, 1.0, 1e3, 1e9])
    expected = np.linalg.solve(plain, right / units) / units
    matrix = plain * np.outer(units, units)
    np.testing.assert_allclose(solve_symmetric(matrix, right), expected, rtol=1e-9)
    empty = np.zeros((5, 5))
    empty[:4, :4] = matrix
    np.testing.assert_allclose(
        solve_symmetric(empty, np.append(right, 3.0)), np.append(expected, 0.0), rtol=1e-9
    )


def test_columns_that_are_not_finite_are_not_taken_for_empty_ones() -> None:
    with np.errstate(invalid="ignore"):
        for broken in (np.nan, np.inf):
            with pytest.raises(ValueError, match="infs or NaNs"):
                solve_symmetric(np.diag([1.0, broken, 0.0]), np.ones(3))


def test_conjugate_gradients_of_nothing_is_nothing() -> None:
    np.testing.assert_array_equal(conjugate_gradients(lambda v: v, np.zeros(3)), np.zeros(3))


def test_a_worker_answers_every_kind_of_broadcast() -> None:
    f, x = planted(40, 3), np.array([0.1, -0.2, 0.3])
    step, gradient = newton_step(f, x), f.gradient(x)
    np.testing.assert_array_equal(answer(f, Broadcast(1, NEWTON_STEP, x)), step)
    np.testing.assert_allclose(answer(f, Broadcast(1, GRADIENT, x)), gradient, rtol=1e-12)
    with_gradient = Broadcast(1, STEP_WITH_GRADIENT, x, {"gradient": 2 * gradient})
    np.testing.assert_allclose(answer(f, with_gradient), 2 * step, rtol=1e-12)
    search = Broadcast(1, OBJECTIVE, x, {"direction": step, "steps": np.array([0.0, 1.0])})
    np.testing.assert_allclose(answer(f, search), [f.value(x), f.value(x - step)], rtol=1e-14)
    with pytest.raises(ValueError, match="no worker knows a broadcast of kind 'riddle'"):
        answer(f, Broadcast(1, "riddle", x))


def by_hand(w, features, target):
    import autograd.numpy as anp

    return anp.logaddexp(0.0, -target * (features @ w))


def test_a_loss_of_the_users_gives_the_steps_of_the_built_in_one() -> None:
    f = planted(60, 4, l2=0.1)
    mine = mean_of(by_hand, f.matrix, f.target, l2=0.1)
    x = np.array([0.2, -0.4, 0.1, 0.0])
    check_derivatives(mine, x)
    assert mine.value(x) == pytest.approx(f.value(x))
    np.testing.assert_allclose(newton_step(mine, x), newton_step(f, x), rtol=1e-7)
    part = np.arange(10)
    np.testing.assert_allclose(mine.take(part).gradient(x), f.take(part).gradient(x))


def test_a_loss_of_the_users_that_does_not_fit_says_so() -> None:
    rows = np.ones((3, 2))
    with pytest.raises(InvalidInput, match="features has 3 rows and target has 2"):
        mean_of(by_hand, rows, np.ones(2))
    with pytest.raises(InvalidInput, match="the number of entries of w"):
        mean_of(by_hand, np.ones(3), np.ones(3))
    with pytest.raises(InvalidInput, match=r"must give one number a row, an array of shape \(3,\)"):
        mean_of(lambda w, x, y: (x @ w).sum(), rows, np.ones(3)).value(np.ones(2))
