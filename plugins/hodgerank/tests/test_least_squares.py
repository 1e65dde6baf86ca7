"""Least-squares scores: the paper's columns, a slow twin, and intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.answer import NORMAL_90
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers import least_squares
from optiframe_hodgerank.solvers.least_squares import LeastSquares

import optiframe
from optiframe import solve

from .path_twins import columns, incidence, ranking_of, unmerged

# Xu et al., Tables 1 and 2, column L2: score of each item, as printed.
TABLE_1 = {
    1: 0.7930, 9: 0.5313, 10: 0.4805, 13: 0.3906, 7: 0.2852, 8: 0.2383, 11: 0.2148, 14: 0.1641,
    15: -0.1758, 12: -0.2500, 3: -0.2227, 4: -0.2930, 16: -0.3633, 5: -0.4414, 6: -0.6289, 2: -0.7227,
}  # fmt: skip
TABLE_2 = {
    1: 0.8001, 6: 0.6003, 9: 0.5362, 12: 0.4722, 2: 0.3044, 10: 0.3472, 16: 0.2756, 7: 0.1403,
    15: 0.0965, 11: -0.1609, 8: -0.2541, 13: -0.2964, 3: -0.6315, 14: -0.6215, 4: -0.7822, 5: -0.8262,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    ("name", "ref", "printed"), [("pairwise.pc-vqa", 1, TABLE_1), ("pairwise.pc-iqa", 10, TABLE_2)]
)
def test_the_l2_columns_of_tables_1_and_2_are_found_to_the_digit(
    name: str, ref: int, printed: dict[int, float]
) -> None:
    problem = optiframe.problem(dataset={"name": name, "ref": ref})
    ranking = solve(problem, "hodge.l2").solution
    scores = dict(zip(ranking.items.tolist(), ranking.scores.tolist(), strict=True))
    assert scores.keys() == printed.keys()
    assert max(abs(scores[item] - printed[item]) for item in printed) < 1e-4


def drawn(seed: int, values: str = "tenths") -> PairwiseRanking:
    return ranking_of(seed, 5, 20, values, (1.0, 2.0, 0.5))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["tenths", "votes"]))
def test_scores_are_those_of_weighted_least_squares_on_all_rows(seed: int, values: str) -> None:
    problem = drawn(seed, values)
    table, x = problem.comparisons, incidence(unmerged(problem))
    root = np.sqrt(table.weight)
    slow = np.linalg.lstsq(root[:, None] * x, root * table.margin, rcond=None)[0]
    result = solve(problem, LeastSquares())
    assert np.allclose(result.solution.scores, slow, atol=1e-9)
    assert np.allclose(result.solution.strength, np.abs(table.margin - x @ slow), atol=1e-9)
    assert result.status == "converged"
    assert result.violation < 1e-9


@pytest.mark.slow
def test_intervals_hold_the_true_scores_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(8)
    rows = columns(0, 8, 120, weights=(1.0, 4.0))
    held = []
    for _ in range(100):
        noise = 0.5 * rng.standard_normal(120) / np.sqrt(rows["weight"])
        rows["margin"] = theta[rows["left"]] - theta[rows["right"]] + noise
        ranking = solve(PairwiseRanking(comparisons=rows), LeastSquares(), trace=False).solution
        held.append(np.abs(ranking.scores - theta + theta.mean()) <= ranking.high - ranking.scores)
    # 800 scores, in dependent groups of 8: a standard error of 1.6% at most, by 100 independent runs.
    assert 0.86 < np.mean(held) < 0.94


def test_no_intervals_without_a_comparison_to_spare() -> None:
    tree = PairwiseRanking(comparisons={"left": [0, 1], "right": [1, 2], "margin": [1.0, 0.5]})
    result = solve(tree, LeastSquares())
    assert result.solution.low is None
    assert "low" not in result.solution.columns()


def test_beyond_the_limit_errors_are_only_given_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = drawn(0)
    answer = solve(problem, LeastSquares()).solution
    monkeypatch.setattr(least_squares, "_INTERVALS", 2)
    assert solve(problem, LeastSquares()).solution.low is None
    errors = LeastSquares().standard_errors(problem, answer)
    assert np.allclose(answer.high - answer.scores, NORMAL_90 * errors)


def test_which_way_a_large_graph_was_solved_is_told() -> None:
    chain = np.arange(2100)
    problem = PairwiseRanking(
        comparisons={"left": chain, "right": chain + 1, "margin": np.linspace(-1.0, 1.0, 2100)}
    )
    result = solve(problem, LeastSquares())
    assert any("2101 items was solved by sparse LU" in finding.text for finding in result.findings)
    assert np.allclose(-np.diff(result.solution.scores), np.linspace(-1.0, 1.0, 2100), atol=1e-8)


def test_the_objective_is_that_of_huber_lasso_once_a_price_is_given() -> None:
    free = drawn(3)
    assert np.isnan(solve(free, LeastSquares()).objective)
    priced = free.model_copy(update={"outlier_price": 0.7})
    scores = solve(priced, LeastSquares()).solution.scores
    misfit, weight = priced.residuals(priced.ranking(scores)), priced.comparisons.weight
    gamma = np.sign(misfit) * np.maximum(np.abs(misfit) - 0.7, 0.0)
    outliers = np.zeros(len(priced.merged))
    sign = np.where(priced.merged.flipped, -1.0, 1.0)
    outliers[priced.merged.inverse] = sign * gamma  # equal rows have equal outliers
    answer = priced.ranking(scores, outliers=outliers)
    assert np.allclose(answer.outliers, gamma)
    slow = sum(w * ((r - g) ** 2 / 2 + 0.7 * abs(g)) for w, r, g in zip(weight, misfit, gamma, strict=True))
    assert priced.objective(answer) == pytest.approx(slow, rel=1e-12)
    assert priced.objective(answer) < priced.objective(priced.ranking(scores))
