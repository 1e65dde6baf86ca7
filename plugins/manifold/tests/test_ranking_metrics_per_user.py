"""Agreement between rankings is what a slow count over pairs says, user by user."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_manifold import metrics
from optiframe_manifold.agreement import kendall_tau, levels, top_overlap
from optiframe_manifold.answer import Rankings
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.problem import CollaborativeRanking

from optiframe.records.fields import Array

tables = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, 4, (2, 3, 5)).astype(np.float64)
)


def slow_tau(a: Array, b: Array) -> float:
    """Tau-b by its definition."""
    pairs = list(itertools.combinations(range(len(a)), 2))
    signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in pairs]
    both = sum(s * t for s, t in signs)
    size = np.sqrt(sum(s != 0 for s, _ in signs) * sum(t != 0 for _, t in signs))
    return float(both / size) if size else 0.0


def slow_overlap(a: Array, b: Array, k: int) -> float:
    """The mean overlap over all ways to break ties."""

    def tops(scores: Array) -> list[set[int]]:
        orders = itertools.permutations(range(len(scores)))
        return [set(o[:k]) for o in orders if all(scores[i] >= scores[j] for i, j in itertools.pairwise(o))]

    return float(np.mean([len(s & t) / k for s in tops(a) for t in tops(b)]))


@given(tables)
def test_tau_is_the_count_over_pairs(both: Array) -> None:
    found = kendall_tau(levels(both[0]), levels(both[1]))
    for i, tau in enumerate(found):
        if np.ptp(both[0][i]) == 0:
            assert np.isnan(tau)
        else:
            assert np.isclose(tau, slow_tau(both[0][i], both[1][i]))


@given(tables, st.integers(1, 5))
def test_overlap_is_the_mean_over_all_ways_to_break_ties(both: Array, k: int) -> None:
    found = top_overlap(levels(both[0]), levels(both[1]), k)
    assert np.allclose(found, [slow_overlap(a, b, k) for a, b in zip(*both, strict=True)])


def test_scores_equal_but_for_rounding_are_tied() -> None:
    scores = np.array([[0.3, 0.1 + 0.2, 1.0, -1.0]])
    assert scores[0, 0] != scores[0, 1]
    assert levels(scores).tolist() == [[1, 1, 2, 0]]


def test_errors_are_those_of_the_dense_formulas() -> None:
    rng = np.random.default_rng(0)
    x = LowRank(rng.standard_normal((6, 2)), rng.standard_normal((5, 2)))
    truth = rng.standard_normal((6, 5))
    found = metrics.of_scores(truth, x)
    a, b = x.dense() / np.abs(x.dense()).max(), truth / np.abs(truth).max()
    assert np.isclose(found["relative_error"], np.sum((a - b) ** 2) / np.sum(b**2))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    assert np.isclose(found["centred_error"], np.sum((a - b) ** 2) / np.sum(b**2))
    best = np.sum(a * b) / np.sum(a**2)
    assert np.isclose(found["scaled_error"], np.sum((best * a - b) ** 2) / np.sum(b**2))
    factored = metrics.of_scores(LowRank(truth, np.eye(5)), x)
    assert np.allclose(list(factored.values()), list(found.values()))


def test_errors_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x = LowRank(rng.standard_normal((9, 2)), rng.standard_normal((7, 2)))
    truth = rng.standard_normal((9, 7))
    whole = (metrics.of_scores(truth, x), metrics.of_rankings(truth, x, 3), metrics.shift_floor(truth))
    monkeypatch.setattr(metrics, "_BLOCK", 14)  # two rows at a time
    parts = (metrics.of_scores(truth, x), metrics.of_rankings(truth, x, 3), metrics.shift_floor(truth))
    assert np.allclose(list(whole[0].values()), list(parts[0].values()))
    assert all(np.array_equal(whole[1][key], parts[1][key]) for key in whole[1])
    assert np.isclose(whole[2], parts[2])


def test_a_perfect_answer_with_centred_rows_stays_at_the_floor() -> None:
    truth = LowRank(np.array([[1.0], [-1.0], [0.5]]), np.array([[1.0], [0.5], [-0.25]]))
    centred = LowRank(truth.left, truth.right - truth.right.mean())
    rescaled = LowRank(centred.left, centred.right * (1.0 / np.abs(centred.dense()).max()))
    found = metrics.of_scores(truth, rescaled)
    dense = truth.dense()
    floor = 1 - np.sum((dense - dense.mean(axis=1, keepdims=True)) ** 2) / np.sum(dense**2)
    assert np.isclose(metrics.shift_floor(truth), floor)
    assert floor > 0.2
    assert found["relative_error"] > 0.1
    assert found["scaled_error"] < 1e-12
    assert metrics.of_rankings(truth, rescaled, 2)["kendall_tau"].tolist() == [1.0, 1.0, 1.0]


def test_an_answer_that_ranks_nothing_is_no_better_than_chance() -> None:
    truth = np.array([[3.0, 2.0, 1.0, 0.0]] * 2)
    nothing = LowRank(np.zeros((2, 1)), np.zeros((4, 1)))
    assert metrics.of_scores(truth, nothing) == dict.fromkeys(
        ("relative_error", "centred_error", "scaled_error"), 1.0
    )
    found = metrics.of_rankings(truth, nothing, 2)
    assert found["kendall_tau"].tolist() == [0.0, 0.0]
    assert found["top_overlap"].tolist() == [0.5, 0.5]


def test_users_whose_true_scores_are_all_equal_do_not_count() -> None:
    truth = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    x = LowRank(np.ones((2, 1)), np.array([[1.0], [2.0], [3.0]]))
    tau = metrics.of_rankings(truth, x, 1)["kendall_tau"]
    assert np.isnan(tau[0])
    assert metrics.mean_over_users(tau) == 1.0
    assert np.isnan(metrics.mean_over_users(tau[:1]))
    assert np.isnan(metrics.interval(tau)).all()


def test_the_interval_of_a_mean_is_students() -> None:
    low, high = metrics.interval(np.array([0.0, 1.0, 2.0, np.nan]))
    assert np.isclose((low + high) / 2, 1.0)
    assert np.isclose(high - 1.0, 2.919986 / np.sqrt(3), atol=1e-5)


def test_of_many_users_some_are_compared_evenly_spaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_USERS", 10)
    truth = np.tile([1.0, 2.0], (25, 1))
    x = LowRank(np.ones((25, 1)), np.array([[1.0], [2.0]]))
    row = metrics.of_rankings(truth, x, 1)["row"]
    assert (len(row), row[0], row[-1]) == (10, 0.0, 24.0)
    assert np.diff(row).max() <= 3


def test_held_out_comparisons_are_predicted_by_the_model() -> None:
    problem = CollaborativeRanking(
        comparisons={"user": [1, 2], "left": ["a", "a"], "right": ["b", "b"], "label": ["a", "b"]},
        held_out={
            "user": [1, 1, 2],
            "left": ["a", "b", "a"],
            "right": ["b", "a", "b"],
            "label": ["a", None, "a"],
            "weight": [1, 2, 1],
        },
        rank=1,
        sigma=0.5,
    )
    x = LowRank(np.array([[1.0], [-2.0]]), np.array([[0.5], [-0.5]]))  # user 1: a by 1; user 2: b by 2
    answer = Rankings(problem.user_ids, problem.item_ids, x, 0.5)
    chance = 1 / (1 + np.exp(-np.array([1.0, -2.0]) / 0.5))
    loss = [-np.log(chance[0]), -np.log(chance[0] * (1 - chance[0])) / 2, -np.log(chance[1])]
    found = problem.metrics(answer)
    assert np.isclose(found["held_out_accuracy"], (1 + 2 * 0.5 + 0) / 4)
    assert np.isclose(found["held_out_loss"], np.average(loss, weights=[1, 2, 1]))
