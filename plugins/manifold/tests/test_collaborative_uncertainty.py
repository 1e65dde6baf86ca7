"""Standard errors: by hand where one can, and right as often as they say."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from optiframe_manifold.geometry.fixed_rank import balanced
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.btl import BtlObjective
from optiframe_manifold.tools.intervals import bootstrap_errors, intervals
from optiframe_manifold.trust import curvature
from optiframe_manifold.trust.curvature import Blocks, Joint
from scipy.special import expit

import optiframe
from optiframe import InvalidInput, solver
from optiframe.records.fields import Array

from .cases import drawn


@cache
def solved(seed: int = 0, density: float = 10.0, penalty: str = "frobenius", users: int = 25) -> Any:
    problem = drawn(users, 15, density, seed=seed, penalty=penalty)
    return optiframe.solve(problem, "manifold.trust-region", trace=False)


def at(result: Any) -> tuple[BtlObjective, LowRank]:
    """The objective, and the scores found."""
    return result.problem.likelihood, result.problem.to_factors(result.solution)


def joint_by_hand(result: Any, user: int) -> Array:
    """The delta method with the Hessian by differences of gradients."""
    problem, x = result.problem, balanced(result.solution.factors)
    f, shape = problem.likelihood, x.shape

    def point(z: Array) -> LowRank:
        return LowRank(z[: x.left.size].reshape(x.left.shape), z[x.left.size :].reshape(x.right.shape))

    def slope(z: Array) -> Array:
        g = f.gradient(point(z))
        return np.concatenate([g.left.ravel(), g.right.ravel()])

    at, h = np.concatenate([x.left.ravel(), x.right.ravel()]), 1e-6
    eye = np.eye(len(at))
    hessian = np.array([(slope(at + h * e) - slope(at - h * e)) / (2 * h) for e in eye])
    inverse = np.linalg.pinv((hessian + hessian.T) / 2, rcond=1e-7, hermitian=True)

    def scores(z: Array) -> Array:
        row = point(z).row(user)
        return row - row.mean()

    change = np.array([(scores(at + h * e) - scores(at - h * e)) / (2 * h) for e in eye])
    assert shape == problem.shape
    return np.asarray(np.sqrt(np.einsum("aj,ab,bj->j", change, inverse, change)))


@pytest.mark.parametrize("penalty", ["frobenius", "log-sum-exp"])
def test_joint_errors_are_the_delta_method_with_the_whole_hessian(penalty: str) -> None:
    result = solved(penalty=penalty)
    found = intervals(result, user=3)["error"]
    np.testing.assert_allclose(found, joint_by_hand(result, 3), rtol=1e-4)


@pytest.mark.slow
def test_conjugate_gradients_give_what_the_inverse_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    result = solved()
    whole = Joint(*at(result)).errors(3)
    monkeypatch.setattr(curvature, "_DENSE", 0)
    np.testing.assert_allclose(Joint(*at(result)).errors(3), whole, rtol=1e-6)


def test_blocks_are_the_inverse_information_of_each_user_and_item() -> None:
    result = solved()
    problem, x = result.problem, balanced(result.solution.factors)
    found = Blocks.of(*at(result))
    ridge = 2 * problem.strength / (25 * 15)
    table = problem.comparisons
    user, item = ridge * x.right.T @ x.right, ridge * x.left.T @ x.left
    for u, j, k in zip(table.user, table.left, table.right, strict=True):
        gap = x.right[j] - x.right[k]
        chance = expit(x.left[u] @ gap / problem.sigma)
        told = chance * (1 - chance) / problem.sigma**2
        user = user + (u == 4) * told * np.outer(gap, gap)
        item = item + (6 in (j, k)) * told * np.outer(x.left[u], x.left[u])
    np.testing.assert_allclose(found.users[4], np.linalg.inv(user), rtol=1e-9)
    np.testing.assert_allclose(found.items[6], np.linalg.inv(item), rtol=1e-9)


@pytest.mark.slow
def test_the_three_ways_agree_where_there_is_much_to_go_by() -> None:
    result = solved(density=60.0)
    joint = Joint(*at(result))
    blocks = Blocks.of(*at(result))
    drawn = bootstrap_errors(result.problem, result.solution, solver("manifold.trust-region"), 30, 0)
    each = np.array([joint.errors(u) for u in range(25)])
    assert np.sqrt((np.array([blocks.errors(u) for u in range(25)]) ** 2 / each**2).mean()) == pytest.approx(
        1, abs=0.1
    )
    assert np.sqrt((drawn**2).mean() / (each**2).mean()) == pytest.approx(1, abs=0.1)


def test_the_bootstrap_of_a_result_is_that_of_its_own_method_with_its_parameters() -> None:
    problem = drawn(6, 5, 10.0, seed=0)
    result = optiframe.solve(problem, "btl.spg", radius=3.0, trace=False)
    own, other = {"name": "btl.spg", "radius": 3.0}, "manifold.trust-region"

    def errors(*given: Any, solver: Any = None) -> Any:
        return intervals(*given, user=0, method="bootstrap", solver=solver, draws=3)["error"]

    expected = errors(problem, result.solution, solver=own)
    np.testing.assert_array_equal(errors(result), expected)
    assert not np.allclose(errors(result, solver=other), expected)
    with pytest.raises(InvalidInput, match="say which solver gave the answer"):
        errors(problem, result.solution)


def test_errors_do_not_depend_on_how_the_answer_is_factored() -> None:
    result = solved()
    problem, x = result.problem, result.solution.factors
    turn = np.array([[2.0, 1.0], [0.5, 3.0]])
    other = problem.from_factors(LowRank(x.left @ np.linalg.inv(turn), x.right @ turn.T))
    for method in ("joint", "blocks"):
        first = intervals(result, user=0, method=method)["error"]
        np.testing.assert_allclose(
            intervals(problem, other, user=0, method=method)["error"], first, rtol=1e-6
        )


@pytest.mark.slow
def test_ninety_percent_intervals_hold_the_truth_about_as_often() -> None:
    """Over all scores of all users of six drawings; single intervals of a drawing go together."""
    inside: dict[str, list[float]] = {"joint": [], "blocks": []}
    for seed in range(6):
        result = solved(seed, 15.0, "log-sum-exp", 30)
        truth, scores = result.problem.truth.dense(), result.solution.served.dense()
        miss = np.abs(scores - (truth - truth.mean(axis=1, keepdims=True)))
        joint, blocks = Joint(*at(result)), Blocks.of(*at(result))
        for user in range(30):
            inside["joint"].append(np.mean(miss[user] <= 1.645 * joint.errors(user)))
            inside["blocks"].append(np.mean(miss[user] <= 1.645 * blocks.errors(user)))
    assert np.mean(inside["joint"]) == pytest.approx(0.9, abs=0.04)
    assert np.mean(inside["blocks"]) == pytest.approx(0.9, abs=0.04)


def test_intervals_come_in_a_frame_and_widen_with_the_level() -> None:
    result = solved()
    narrow = intervals(result.problem, result.solution, user=2, level=0.5, method="blocks")
    wide = intervals(result.problem, result.solution, user=2, level=0.99, method="blocks")
    assert list(wide) == ["item", "score", "error", "low", "high"]
    assert (wide["low"] < narrow["low"]).all()
    np.testing.assert_allclose((wide["high"] - wide["low"]) / wide["error"], 2 * 2.5758, rtol=1e-4)
    np.testing.assert_allclose(wide["score"], result.solution.scores(2))


def test_nothing_is_said_of_whom_nothing_is_known() -> None:
    table = {"user": [1, 1, 1, 2, 2], "left": list("abcab"), "right": list("bcabc"), "label": list("abaab")}
    problem = optiframe.problem(
        "collaborative-ranking", comparisons=table, users=[1, 2, 3], items=list("abcd"), rank=1
    )
    result = optiframe.solve(problem, "manifold.trust-region")
    for method in ("joint", "blocks", "bootstrap"):
        assert np.isnan(intervals(result, user=3, method=method, draws=2)["error"]).all()
        known = intervals(result, user=1, method=method, draws=2)["error"]
        assert np.isnan(known).tolist() == [False, False, False, True]


def test_blocks_need_no_penalty() -> None:
    result = solved(penalty="none", density=30.0)
    assert (intervals(result, user=0, method="blocks")["error"] > 0).all()


def test_what_has_no_standard_errors_says_why() -> None:
    result = solved()
    problem, answer = result.problem, result.solution
    with pytest.raises(InvalidInput, match="there is no user 99 among the 25"):
        intervals(problem, answer, user=99)
    with pytest.raises(InvalidInput, match="level must be between 0 and 1, got 90"):
        intervals(problem, answer, user=0, level=90)
    with pytest.raises(InvalidInput, match="draws must be at least 2, got 1"):
        intervals(result, user=0, method="bootstrap", draws=1)
    with pytest.raises(InvalidInput, match="method must be 'joint', 'blocks' or 'bootstrap', got 'exact'"):
        intervals(problem, answer, user=0, method="exact")  # type: ignore[arg-type]  # a wrong one
    rng = np.random.default_rng(0)
    nowhere = LowRank(rng.standard_normal((25, 2)), rng.standard_normal((15, 2)))
    with pytest.raises(InvalidInput, match="negative curvature here, so this is no minimum"):
        intervals(problem, problem.from_factors(nowhere), user=0)
