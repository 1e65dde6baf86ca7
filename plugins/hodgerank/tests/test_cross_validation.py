"""Cross-validation over random projections of the cycle space."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.solvers.refit import HuberLassoRefit
from optiframe_hodgerank.stopping import cross_validation as cycle_folds
from optiframe_hodgerank.stopping.cross_validation import CycleFolds, bregman_curve, lasso_curve

from optiframe import InvalidInput, problem, solve

from .path_twins import incidence, votes


def no_limit() -> float:
    return math.inf


SMALL = {"name": "pairwise.bias", "items": 8, "comparisons": 120}


def structured(graph: ComparisonGraph, folds: int, rng: np.random.Generator) -> CycleFolds:
    """As for many rows: the fast transform instead of a dense basis."""
    space = CycleFolds(graph, folds, rng)
    space._basis = None
    space.deal(graph.rows, rng)
    return space


def space_of(ranking: PairwiseRanking, dense: bool) -> CycleFolds:
    make = CycleFolds if dense else structured
    return make(ranking.comparisons.unmerged(), 4, np.random.default_rng(0))


@pytest.mark.parametrize("dense", [True, False])
def test_all_folds_together_are_the_projection_onto_cycles(dense: bool) -> None:
    ranking = problem(dataset=SMALL)
    space = space_of(ranking, dense)
    x = incidence(ranking.comparisons.unmerged())
    v = np.random.default_rng(1).standard_normal((4, 120))
    slow = v - v @ (x @ np.linalg.pinv(x))
    assert space.back(space.measure(v)) == pytest.approx(slow, abs=1e-10)
    # Scores are not seen at all.
    assert space.measure((x @ np.arange(8.0))[None].repeat(4, axis=0)) == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("dense", [True, False])
def test_a_fold_is_fitted_to_the_combinations_of_the_others(dense: bool) -> None:
    ranking = problem(dataset=SMALL)
    space = space_of(ranking, dense)
    measure = np.vstack([space.measure(np.eye(120)[[e] * 4])[0] for e in range(120)]).T
    v = np.random.default_rng(1).standard_normal((4, 120))
    pull, error = space.split(v)
    for f in range(4):
        others, own = measure[space.fold != f], measure[space.fold == f]
        assert pull[f] == pytest.approx(others.T @ others @ v[f], abs=1e-10)
        assert error[f] == pytest.approx(np.mean((own @ v[f]) ** 2))
    if dense:  # orthonormal, so that what is left out has nothing to do with what is fitted to
        assert measure @ measure.T == pytest.approx(np.eye(len(measure)), abs=1e-10)


def test_weights_scale_rows_by_their_root() -> None:
    weight = np.random.default_rng(0).uniform(0.5, 3.0, 66)
    plain = votes(0, noise=0.1).comparisons
    table = {"left": plain.left, "right": plain.right, "margin": plain.margin, "weight": weight}
    rows = PairwiseRanking(comparisons=table).comparisons.unmerged()
    space = CycleFolds(rows, 5, np.random.default_rng(0))
    seen = space.measure(np.sqrt(weight) * rows.margin[None].repeat(5, axis=0))
    off = rows.cycles(rows.margin)
    assert (seen**2).sum(axis=1) == pytest.approx(weight @ off**2)


def lasso_by_hand(space: CycleFolds, fold: int, level: float) -> np.ndarray:
    """gamma of one fold by many plain proximal gradient steps."""
    y, gamma = space.graph.margin, np.zeros(space.graph.rows)
    for _ in range(4000):
        pull = space.split(np.broadcast_to(y - gamma, (space.folds, len(y))))[0][fold]
        toward = gamma + pull
        gamma = toward - np.clip(toward, -level, level)
    return gamma


@pytest.mark.slow
def test_lasso_errors_are_those_of_fits_by_hand() -> None:
    ranking = problem(dataset=SMALL)
    rows = ranking.comparisons.unmerged()
    curve = lasso_curve(rows, 5, np.random.default_rng(3), time_left=no_limit)
    space = CycleFolds(rows, 5, np.random.default_rng(3))
    for k in (2, 5, len(curve.level) - 1):  # the first is that of no outliers
        for fold in (0, 3):
            rest = rows.margin - lasso_by_hand(space, fold, 0.8 * curve.level[k])
            slow = space.split(np.broadcast_to(rest, (5, len(rest))))[1][fold]
            assert curve.error[k, fold] == pytest.approx(slow, rel=5e-3)


@pytest.mark.slow
def test_bregman_errors_are_those_of_steps_by_hand() -> None:
    rows = problem(dataset=SMALL).comparisons.unmerged()
    kappa, dt = 10.0, 0.05
    curve = bregman_curve(rows, 5, np.random.default_rng(3), kappa=kappa, time_left=no_limit)
    space = CycleFolds(rows, 5, np.random.default_rng(3))
    dual, found = np.zeros((5, rows.rows)), {}
    for step in range(round(1 / (curve.level[-1] * dt)) + 1):
        outliers = kappa * np.sign(dual) * np.maximum(np.abs(dual) - 1, 0)
        pull, error = space.split(rows.margin - outliers)
        found[step] = error
        dual += dt / 0.8 * pull
    for k in (len(curve.level) // 2, len(curve.level) - 1):
        assert curve.error[k] == pytest.approx(found[round(1 / (curve.level[k] * dt))], rel=1e-9)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_bregman_with_cross_validation_finds_large_outliers(seed: int) -> None:
    ranking = problem(dataset={**SMALL, "comparisons": 200, "seed": seed})
    result = solve(ranking, LinearizedBregman(stop_rule="cross-validation"), trace=False)
    assert result.metrics["outlier_recall"] >= 0.9
    assert result.metrics["outlier_precision"] >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("solver", [HuberLasso, HuberLassoRefit])
def test_huber_lasso_with_cross_validation_finds_them_and_more(solver: type[HuberLasso]) -> None:
    ranking = problem(dataset={**SMALL, "comparisons": 200})
    result = solve(ranking, solver(stop_rule="cross-validation"), trace=False)
    assert result.metrics["outlier_recall"] == 1.0
    assert result.metrics["outlier_precision"] < 0.5  # which is why the docstring prefers the other
    assert any("cross-validation chose lambda" in finding.text for finding in result.findings)


@pytest.mark.slow
def test_fast_transform_chooses_as_the_exact_basis_does(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = problem(dataset={"name": "pairwise.bias", "comparisons": 500}).comparisons.unmerged()
    exact = bregman_curve(rows, 5, np.random.default_rng(0), kappa=50, time_left=no_limit)
    monkeypatch.setattr(cycle_folds, "_DENSE", 0)
    fast = bregman_curve(rows, 5, np.random.default_rng(0), kappa=50, time_left=no_limit)
    least = exact.error.mean(axis=1).min(), fast.error.mean(axis=1).min()
    assert least[1] == pytest.approx(least[0], rel=0.1)
    assert fast.level[fast.best] == pytest.approx(exact.level[exact.best], rel=0.5)


@pytest.mark.slow
def test_where_outliers_are_dense_it_finds_none_and_says_so() -> None:
    drawn = {"name": "pairwise.random-order", "comparisons": 1000, "outlier_share": 0.3}
    result = solve(problem(dataset=drawn), LinearizedBregman(stop_rule="cross-validation"), trace=False)
    assert len(result.solution.flagged) == 0
    assert any("finds no outliers" in finding.text for finding in result.findings)


def test_too_few_comparisons_to_leave_any_out_are_told() -> None:
    with pytest.raises(InvalidInput, match="more than 5 comparisons for every item"):
        solve(votes(0, items=9, rows=20), HuberLasso(stop_rule="cross-validation"))


@pytest.mark.parametrize("stop_rule", ["huber", "cross-validation"])
@pytest.mark.parametrize("solver", [HuberLasso, LinearizedBregman])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_nothing_to_explain_is_told(solver: type[HuberLasso], stop_rule: str, margin: float) -> None:
    ranking = PairwiseRanking(comparisons={"left": [0] * 12, "right": [1] * 12, "margin": [margin] * 12})
    with pytest.raises(InvalidInput, match="exactly"):
        solve(ranking, solver(stop_rule=stop_rule))
