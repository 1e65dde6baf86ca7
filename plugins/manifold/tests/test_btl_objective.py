from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective import penalties
from optiframe_manifold.objective.btl import BtlObjective
from optiframe_manifold.objective.btl_start import comparison_matrix

from optiframe.errors import InvalidInput

PENALTIES = ("log-sum-exp", "frobenius", "none")


def comparisons(seed: int = 0, users: int = 7, items: int = 5, count: int = 40, **more: Any) -> BtlObjective:
    """Random comparisons with random weights; user 2 has none."""
    rng = np.random.default_rng(seed)
    user = np.sort(rng.choice([u for u in range(users) if u != 2], count))
    winner = rng.integers(0, items, count)
    fields = {
        "users": users,
        "items": items,
        "winner": winner,
        "loser": (winner + rng.integers(1, items, count)) % items,
        "pointer": np.concatenate([[0], np.cumsum(np.bincount(user, minlength=users))]),
        "weight": rng.uniform(0, 2, count),
        "sigma": 0.3,
        "strength": 8.0,
    }
    return BtlObjective(**(fields | more))


def point(f: BtlObjective, rank: int = 2, seed: int = 1, size: float = 1.0) -> LowRank:
    rng = np.random.default_rng(seed)
    return LowRank(*(size * rng.standard_normal((side, rank)) for side in f.shape))


def plus(x: LowRank, v: LowRank, step: float) -> LowRank:
    return LowRank(x.left + step * v.left, x.right + step * v.right)


def inner(a: LowRank, b: LowRank) -> float:
    return float(np.sum(a.left * b.left) + np.sum(a.right * b.right))


def slow_value(f: BtlObjective, x: LowRank) -> float:
    """The formula of the docstring, comparison by comparison, entry by entry."""
    scores = x.left @ x.right.T
    total = 0.0
    for user in range(f.users):
        for e in range(f.pointer[user], f.pointer[user + 1]):
            gap = scores[user, f.winner[e]] - scores[user, f.loser[e]]
            total += (1.0 if f.weight is None else f.weight[e]) * np.logaddexp(0.0, -gap / f.sigma)
    if f.penalty == "log-sum-exp":
        total += f.strength * np.log(np.sum(np.exp(scores**2)))
    elif f.penalty == "frobenius":
        total += 2 * f.strength / scores.size * np.sum(scores**2) / 2
    return float(total)


def slow_dense_gradient(f: BtlObjective, scores: np.ndarray) -> np.ndarray:
    g = np.zeros(scores.shape)
    for user in range(f.users):
        for e in range(f.pointer[user], f.pointer[user + 1]):
            j, k = f.winner[e], f.loser[e]
            w = 1.0 if f.weight is None else f.weight[e]
            pull = -w / f.sigma / (1 + np.exp((scores[user, j] - scores[user, k]) / f.sigma))
            g[user, j] += pull
            g[user, k] -= pull
    if f.penalty == "log-sum-exp":
        g += f.strength * 2 * scores * np.exp(scores**2) / np.sum(np.exp(scores**2))
    elif f.penalty == "frobenius":
        g += 2 * f.strength / scores.size * scores
    return g


def again(f: BtlObjective) -> BtlObjective:
    """The same objective with nothing kept."""
    return BtlObjective(**{key: getattr(f, key) for key in BtlObjective.model_fields})


def going(by_rows: bool, f: BtlObjective) -> BtlObjective:
    """The same objective, going over the data as told."""
    chosen = again(f)
    chosen.__dict__["terms"] = replace(chosen.terms, by_rows=by_rows)
    return chosen


WAYS = [
    pytest.param(penalty, by_rows, id=f"{penalty}-{'rows' if by_rows else 'comparisons'}")
    for penalty in PENALTIES
    for by_rows in ((True,) if penalty == "log-sum-exp" else (True, False))
]


@pytest.mark.parametrize(("penalty", "by_rows"), WAYS)
def test_value_and_gradient_are_those_of_the_formula(penalty: str, by_rows: bool) -> None:
    for weight in ({}, {"weight": None}):
        f = going(by_rows, comparisons(penalty=penalty, **weight))
        x = point(f)
        assert f.value(x) == pytest.approx(slow_value(f, x), rel=1e-13)
        dense, found = slow_dense_gradient(f, x.dense()), f.gradient(x)
        np.testing.assert_allclose(found.left, dense @ x.right, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(found.right, dense.T @ x.left, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("penalty", "by_rows"), WAYS)
def test_derivatives_agree_with_differences_and_the_hessian_is_symmetric(penalty: str, by_rows: bool) -> None:
    f = going(by_rows, comparisons(penalty=penalty))
    x, v, w, step = point(f, size=0.5), point(f, seed=2), point(f, seed=3), 1e-5
    ahead, behind = plus(x, v, step), plus(x, v, -step)
    slope = (f.value(ahead) - f.value(behind)) / (2 * step)
    assert inner(f.gradient(x), v) == pytest.approx(slope, rel=1e-7)
    product = f.hessian_product(x, v)
    for side in ("left", "right"):
        change = (getattr(f.gradient(ahead), side) - getattr(f.gradient(behind), side)) / (2 * step)
        np.testing.assert_allclose(getattr(product, side), change, rtol=1e-6, atol=1e-6)
    assert inner(product, w) == pytest.approx(inner(f.hessian_product(x, w), v), rel=1e-10)


def test_rough_hessian_products_have_five_digits() -> None:
    for size, weight in ((0.5, {}), (1.0, {"weight": None})):
        f = comparisons(**weight)
        x, v = point(f, size=size), point(f, seed=2)
        exact, rough = f.hessian_product(x, v), f.rough_hessian_product(x, v)
        for side in ("left", "right"):
            one, other = getattr(rough, side), getattr(exact, side)
            assert 0 < np.linalg.norm(one - other) <= 1e-5 * np.linalg.norm(other)


def test_rough_hessian_products_are_exact_where_single_precision_does_not_do() -> None:
    for penalty, size, more in (
        ("frobenius", 1.0, {}),
        ("log-sum-exp", 40.0, {}),
        ("log-sum-exp", 1.0, {"strength": 1e-320}),
        ("log-sum-exp", 1.0, {"sigma": 1e-50}),
    ):
        f = going(True, comparisons(penalty=penalty).model_copy(update=more))
        x, v = point(f, size=size), point(f, seed=2)
        exact, rough = f.hessian_product(x, v), f.rough_hessian_product(x, v)
        np.testing.assert_array_equal(rough.left, exact.left)
        np.testing.assert_array_equal(rough.right, exact.right)


@given(
    seed=st.integers(0, 10**6),
    penalty=st.sampled_from(["frobenius", "none"]),
    size=st.sampled_from([1e-3, 1.0, 30.0, 1e3]),
)
def test_rows_and_comparisons_give_the_same_numbers(seed: int, penalty: str, size: float) -> None:
    f = comparisons(seed, users=30, items=40, count=600, penalty=penalty)
    x, v = point(f, seed=seed, size=size**0.5), point(f, seed=seed + 1)
    here, other = going(True, f).at(x), going(False, f).at(x)
    assert here.value == pytest.approx(other.value, rel=1e-12)
    for side in ("left", "right"):
        for a, b in ((here.gradient, other.gradient), (here.hessian_product(v), other.hessian_product(v))):
            one, two = getattr(a, side), getattr(b, side)
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12 * np.abs(two).max())


def test_blocks_of_rows_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    f, v = comparisons(users=20, items=9, count=150), point(comparisons(users=20, items=9, count=150), seed=5)
    x = point(f)
    whole = f.at(x)
    monkeypatch.setattr("optiframe_manifold.objective.row_passes._BLOCK", 27)  # three rows
    parts = again(f).at(x)
    assert len(parts._terms.row_passes.blocks) == 7
    assert parts.value == pytest.approx(whole.value, rel=1e-14)
    np.testing.assert_allclose(parts.gradient.right, whole.gradient.right, rtol=1e-12)
    one, other = parts.hessian_product(v), whole.hessian_product(v)
    np.testing.assert_allclose(one.left, other.left, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(one.right, other.right, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("size", [1e3, -1e3])
def test_scores_of_a_thousand_overflow_nothing(penalty: str, size: float) -> None:
    f = going(True, comparisons(penalty=penalty))
    x = LowRank(np.full((f.users, 1), size), np.linspace(-1, 1, f.items)[:, None])
    scores = x.dense()
    row = np.repeat(np.arange(f.users), np.diff(f.pointer))
    assert f.weight is not None
    gaps = (scores[row, f.winner] - scores[row, f.loser]) / f.sigma
    expected = float(f.weight @ np.logaddexp(0.0, -gaps))
    if penalty == "log-sum-exp":
        top = np.max(scores**2)
        expected += f.strength * (top + np.log(np.sum(np.exp(scores**2 - top))))
    assert f.value(x) == pytest.approx(expected + (f.ridge / 2 * np.sum(scores**2)), rel=1e-13)
    for found in (f.gradient(x), f.hessian_product(x, point(f, rank=1))):
        assert np.isfinite(found.left).all()
        assert np.isfinite(found.right).all()


def test_a_point_that_is_not_finite_gives_no_finite_value_and_no_warning() -> None:
    f = comparisons()
    for bad in (np.nan, np.inf, 1e200):
        x = LowRank(np.full((f.users, 2), bad), np.ones((f.items, 2)))
        assert not np.isfinite(f.value(x))
        assert np.isfinite(bad) or not np.isfinite(f.gradient(x).left).all()


def test_frobenius_is_log_sum_exp_up_to_fourth_order() -> None:
    ridge, exact = (comparisons(penalty=penalty) for penalty in ("frobenius", "log-sum-exp"))
    constant = exact.strength * np.log(exact.users * exact.items)
    gaps = []
    for size in (1e-1, 5e-2):  # of the factors: halving them makes X^4 smaller by 256
        x = point(ridge, size=size)
        square = x.dense() ** 2
        gap = exact.value(x) - constant - ridge.value(x)
        assert gap == pytest.approx(exact.strength * np.var(square) / 2, rel=0.1)
        gaps.append(gap)
    assert gaps[0] / gaps[1] == pytest.approx(256, rel=0.1)


def test_the_ridge_from_gram_matrices_is_that_of_the_matrix() -> None:
    x, v = point(comparisons(), 3), point(comparisons(), 3, seed=4)
    dense, change = x.dense(), v.left @ x.right.T + x.left @ v.right.T
    assert penalties.ridge_value(x, 1.7) == pytest.approx(1.7 / 2 * np.sum(dense**2))
    left, right = penalties.ridge_hessian_product(x, v, 1.7)
    np.testing.assert_allclose(left, 1.7 * (change @ x.right + dense @ v.right))
    np.testing.assert_allclose(right, 1.7 * (change.T @ x.left + dense.T @ v.left))


def test_shifting_a_users_scores_leaves_the_loss_as_it_is() -> None:
    f = comparisons(penalty="none")
    x = point(f)
    shifted = LowRank(
        np.hstack([x.left, np.arange(f.users)[:, None]]), np.hstack([x.right, np.ones((f.items, 1))])
    )
    assert f.value(shifted) == pytest.approx(f.value(x), rel=1e-12)


def test_merged_repeats_weigh_as_much_as_the_repeats() -> None:
    once = BtlObjective(users=2, items=3, winner=[0, 1], loser=[1, 2], pointer=[0, 2, 2], weight=[3.0, 1.0])
    often = BtlObjective(users=2, items=3, winner=[0, 0, 0, 1], loser=[1, 1, 1, 2], pointer=[0, 4, 4])
    x, v = point(once), point(once, seed=2)
    assert once.value(x) == pytest.approx(often.value(x), rel=1e-14)
    np.testing.assert_allclose(once.hessian_product(x, v).left, often.hessian_product(x, v).left, rtol=1e-12)


def test_without_comparisons_only_the_penalty_is_left() -> None:
    f = BtlObjective(users=3, items=4, winner=[], loser=[], pointer=[0, 0, 0, 0], strength=2.0)
    x = point(f)
    assert f.value(x) == pytest.approx(2.0 * np.log(np.sum(np.exp(x.dense() ** 2))))
    for penalty in PENALTIES:
        g = f.model_copy(update={"penalty": penalty})
        assert np.isfinite(g.hessian_product(x, point(f, seed=2)).left).all()


def test_a_point_changed_in_place_is_seen() -> None:
    f = comparisons()
    x = point(f)
    before = f.value(x)
    x.left[0] += 1.0
    assert f.value(x) == pytest.approx(slow_value(f, x))
    assert f.value(x) != before


def test_the_last_two_points_are_kept_and_not_pickled() -> None:
    f = comparisons()
    x, y, z = (point(f, seed=seed) for seed in (1, 2, 3))
    here = f.at(x)
    f.value(y)
    assert f.at(x) is here
    f.value(z)
    assert f.at(LowRank(x.left.copy(), x.right.copy())) is not here
    copy = pickle.loads(pickle.dumps(f))
    assert "_points" not in copy.__dict__
    assert copy == f
    assert copy.value(x) == f.value(x)


def test_value_and_gradient_are_the_same_together_and_apart() -> None:
    f, x = comparisons(), point(comparisons())
    value, gradient = f.value_and_gradient(x)
    fresh = comparisons()
    assert value == fresh.value(x)
    np.testing.assert_array_equal(gradient.left, fresh.gradient(x).left)
    gradient.left[:] = 0  # the caller's own
    assert f.gradient(x).left.any()


def test_the_comparison_matrix_is_the_gradient_of_the_loss() -> None:
    f = comparisons(penalty="none")
    assert f.weight is not None
    at_zero = comparison_matrix(f.terms.comparisons, -f.weight / (2 * f.sigma)).toarray()
    np.testing.assert_allclose(at_zero, slow_dense_gradient(f, np.zeros(f.shape)), atol=1e-12)
    np.testing.assert_allclose(at_zero.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_cvxpy_expression_has_the_same_value(penalty: str) -> None:
    import cvxpy as cp

    f = comparisons(penalty=penalty)
    x, variable = point(f), cp.Variable(f.shape)
    expression = f.as_cvxpy(variable)
    variable.value = x.dense()
    assert expression.is_convex()
    assert float(expression.value) == pytest.approx(f.value(x), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loser": [1]}, "2 winners but 1 losers"),
        ({"pointer": [0, 2]}, "pointer must rise from 0 to 2 in 3 numbers"),
        ({"pointer": [0, 3, 2]}, "pointer must rise"),
        ({"winner": [0, 3]}, "winner: entry 1 is 3; items go from 0 to 2"),
        ({"loser": [-1, 2]}, "loser: entry 0 is -1"),
        ({"loser": [1, 1]}, "comparison 1 is of item 1 with itself"),
        ({"weight": [1.0]}, "2 comparisons but 1 weights"),
        ({"weight": [1.0, -1.0]}, "weight: entry 1 is -1"),
        ({"winner": [0.0, 1.0]}, "must be a vector of whole numbers"),
        ({"winner": [0, 2**40]}, "has a number beyond 2_147_483_647"),
        ({"sigma": 0.0}, "sigma: must be at least 1e-50"),
        ({"penalty": "ridge"}, "penalty: must be one of"),
        ({"strength": -1.0}, "strength: must be at least 0"),
    ],
)
def test_wrong_input_is_named(change: dict[str, Any], words: str) -> None:
    right = {"users": 2, "items": 3, "winner": [0, 1], "loser": [1, 2], "pointer": [0, 1, 2]}
    with pytest.raises(InvalidInput, match=words):
        BtlObjective(**(right | change))


def test_a_point_or_direction_of_another_size_is_named() -> None:
    f = comparisons()
    with pytest.raises(InvalidInput, match="takes a LowRank point of 7 x 5, got 5 x 7"):
        f.value(LowRank(np.ones((5, 2)), np.ones((7, 2))))
    with pytest.raises(InvalidInput, match="got ndarray"):
        f.value(np.ones((7, 5)))  # type: ignore[arg-type]  # what is tested
    with pytest.raises(InvalidInput, match="the direction has factors"):
        f.hessian_product(point(f), point(f, rank=3))
    with pytest.raises(InvalidInput, match="direction"):
        f.rough_hessian_product(point(f), point(f, rank=3))
