"""Huber's concomitant scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.solvers.refit import HuberLassoRefit
from optiframe_hodgerank.stopping.concomitant import clipped_variance, concomitant_scale
from scipy.optimize import minimize

from optiframe import InvalidInput, problem, solve

from .path_twins import incidence, votes


def joint_objective(graph: ComparisonGraph, m: float, a: float, x: np.ndarray) -> float:
    """Eq. 12 with a sigma for m sigma; x is theta and log sigma."""
    sigma = np.exp(x[-1])
    r = np.abs(graph.margin - incidence(graph) @ x[:-1]) / sigma
    rho = np.where(r <= m, r * r / 2, m * r - m * m / 2)
    return float(sigma * (graph.weight @ rho) + a * sigma)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.sampled_from([1.0, 1.35, 2.0]))
def test_scores_and_scale_satisfy_their_two_equations(seed: int, m: float) -> None:
    ranking = votes(seed, noise=0.1)
    graph = ranking.graph
    found = concomitant_scale(graph, ranking.rows, m)
    r = graph.margin - graph.differences(found.scores)
    held = np.clip(r, -found.level, found.level)
    spare = ranking.rows - graph.items + 1
    assert found.level == pytest.approx(m * found.sigma)
    assert graph.weight @ held**2 / found.sigma**2 == pytest.approx(clipped_variance(m) * spare, rel=1e-7)
    assert np.abs(graph.divergence(graph.weight * held)).max() < 1e-8


@pytest.mark.slow
def test_it_is_the_minimizer_of_the_joint_objective() -> None:
    ranking = votes(1, items=4, rows=40, noise=0.2)
    graph = ranking.graph
    found = concomitant_scale(graph, ranking.rows)
    a = clipped_variance(1.35) * (ranking.rows - 3) / 2
    slow = minimize(
        lambda x: joint_objective(graph, 1.35, a, x), np.zeros(5), tol=1e-12, options={"gtol": 1e-9}
    )
    here = joint_objective(graph, 1.35, a, np.append(found.scores, np.log(found.sigma)))
    assert here <= slow.fun + 1e-9
    assert np.exp(slow.x[-1]) == pytest.approx(found.sigma, rel=1e-4)


def test_clipped_variance_is_that_of_normal_draws() -> None:
    z = np.random.default_rng(0).standard_normal(400_000)
    for m in (0.5, 1.35, 3.0):
        assert clipped_variance(m) == pytest.approx(np.minimum(z * z, m * m).mean(), abs=4e-3)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_scale_is_the_standard_deviation_of_the_noise(share: float) -> None:
    drawn = {"name": "pairwise.bias", "items": 20, "comparisons": 4000, "outlier_share": share}
    ranking = problem(dataset=drawn)
    sigma = concomitant_scale(ranking.graph, ranking.rows).sigma
    # 5% outliers count as the largest residuals, which raises it a little.
    assert 0.095 < sigma < (0.105 if share == 0 else 0.115)


def test_merged_and_unmerged_scales_agree() -> None:
    ranking = votes(4)
    merged = concomitant_scale(ranking.graph, ranking.rows)
    unique, each = ranking.merged, ranking.merged.inverse
    graph = ComparisonGraph(6, unique.left[each], unique.right[each], unique.margin[each])
    rows = concomitant_scale(graph, ranking.rows)
    assert merged.level == pytest.approx(rows.level, rel=1e-8)


@pytest.mark.parametrize("solver", [HuberLasso(stop_rule="huber"), HuberLassoRefit(stop_rule="huber")])
def test_huber_lasso_flags_what_is_beyond_the_scale(solver: HuberLasso) -> None:
    ranking = problem(dataset="pairwise.bias")
    scale = concomitant_scale(ranking.graph, ranking.rows)
    result = solve(ranking, solver, trace=False)
    table = ranking.comparisons
    off = np.abs(table.margin - scale.scores[table.left] + scale.scores[table.right])
    assert np.sort(result.solution.flagged).tolist() == np.flatnonzero(off > scale.level).tolist()
    assert result.detail.knots[-1] == pytest.approx(scale.level)
    assert result.metrics["outlier_recall"] == 1.0
    assert any("Huber's concomitant scale" in finding.text for finding in result.findings)


def test_bregman_time_is_one_over_the_threshold() -> None:
    ranking = problem(dataset="pairwise.bias")
    result = solve(ranking, LinearizedBregman(stop_rule="huber"), trace=False)
    scale = concomitant_scale(ranking.graph, ranking.rows)
    assert result.detail.knots[-1] == pytest.approx(1 / scale.level, abs=0.01)


def test_no_noise_and_no_spare_rows_are_told() -> None:
    ring = PairwiseRanking(comparisons={"left": [0, 1, 2], "right": [1, 2, 3], "margin": [1.0, 0.5, 0.2]})
    with pytest.raises(InvalidInput, match="no more than it takes to connect"):
        solve(ring, HuberLasso(stop_rule="huber"))
    exact = {"left": [0] * 9 + [0], "right": [1] * 9 + [1], "margin": [1.0] * 9 + [3.0]}
    with pytest.raises(InvalidInput, match="no noise to measure"):
        solve(PairwiseRanking(comparisons=exact), HuberLasso(stop_rule="huber"))


def test_the_former_name_of_the_stop_rule_is_answered_with_the_new_one() -> None:
    with pytest.raises(InvalidInput, match=r"amount: unknown key .*`amount` is now called `stop_rule`"):
        LinearizedBregman.load(amount="huber")


def test_a_scale_that_is_an_end_of_where_it_is_looked_for_is_found() -> None:
    table = {"left": list("abcac"), "right": list("bcabb"), "margin": [1.0, 2, 3, -1, 1]}
    found = solve(PairwiseRanking(comparisons=table), HuberLasso(stop_rule="huber"))
    assert np.isfinite(found.solution.scores).all()
