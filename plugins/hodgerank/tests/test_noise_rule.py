"""Where margins' paths end by default: at 2.5 times the noise, by the median misfit of robust scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.stopping.median_scale import CUT, outlier_level

from optiframe import Result, solve, solver
from optiframe.solving.recommend import recommend

SOLVERS = ["hodge.iss", "hodge.lbi", "hodge.hlasso", "hodge.hlasso-l2"]


def margins(
    wrong: float, *, rows: int = 400, noise: float = 0.1, off: float = 2.0
) -> tuple[np.ndarray, PairwiseRanking]:
    """True scores and margins with noise, of which a share is off by about `off` either way."""
    rng, items = np.random.default_rng(0), 12
    truth = rng.standard_normal(items)
    left = np.append(np.arange(items), rng.integers(items, size=rows - items))
    right = (left + np.append(np.ones(items, int), rng.integers(1, items, size=rows - items))) % items
    margin = truth[left] - truth[right] + noise * rng.standard_normal(rows)
    bad = rng.choice(rows, round(wrong * rows), replace=False)
    margin[bad] += off * (1 + rng.random(len(bad))) * rng.choice([-1.0, 1.0], len(bad))
    return truth - truth.mean(), PairwiseRanking(comparisons={"left": left, "right": right, "margin": margin})


def error(truth: np.ndarray, result: Result[Any]) -> float:
    return float(np.sqrt(np.mean((result.solution.scores - truth) ** 2)))


@pytest.mark.parametrize("wrong", [0.0, 0.05, 0.2, 0.4])
@pytest.mark.parametrize("name", SOLVERS)
def test_as_many_comparisons_are_outliers_as_are_wrong(name: str, wrong: float) -> None:
    truth, problem = margins(wrong)
    result = solve(problem, name, trace=False)
    assert wrong - 0.01 <= len(result.solution.flagged) / problem.rows <= wrong + 0.03
    pulled = 4 if name == "hodge.hlasso" else 2  # whose outliers pull by 2.5 times the noise
    assert error(truth, result) < pulled * error(truth, solve(margins(0.0)[1], "hodge.l2"))


def test_a_wild_margin_does_not_keep_the_recommended_method_from_its_end() -> None:
    truth, problem = margins(0.02, off=1e5)
    result = solve(problem)
    assert any(finding.text.startswith("hodge.iss was chosen") for finding in result.findings)
    assert result.status == "converged"
    assert error(truth, result) < 0.05


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_the_unit_of_margins_scales_the_level(unit: float) -> None:
    _, problem = margins(0.0)
    rows = problem.comparisons
    table = {"left": rows.left, "right": rows.right, "margin": unit * rows.margin}
    level, noise = outlier_level(PairwiseRanking(comparisons=table).graph, problem.rows)
    assert level == pytest.approx(CUT * noise)
    assert noise == pytest.approx(0.1 * unit, rel=0.1)


@pytest.mark.parametrize("name", SOLVERS)
def test_without_noise_whatever_contradicts_the_others_is_an_outlier(name: str) -> None:
    truth, problem = margins(0.2, noise=0.0)
    result = solve(problem, name, trace=False)
    assert len(result.solution.flagged) == 80
    assert any("scores explain most comparisons exactly" in finding.text for finding in result.findings)
    if name != "hodge.hlasso":
        assert error(truth, result) < 1e-9


@pytest.mark.parametrize("margin", [[1.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, -2.0, 1.5]])
@pytest.mark.parametrize("name", SOLVERS)
def test_comparisons_that_cannot_contradict_each_other_have_no_outliers(
    name: str, margin: list[float]
) -> None:
    chain = PairwiseRanking(comparisons={"left": [0, 1, 2], "right": [1, 2, 3], "margin": margin})
    result = solve(chain, name, trace=False)
    assert not len(result.solution.flagged)
    assert result.solution.scores[0] - result.solution.scores[1] == pytest.approx(margin[0])


def test_votes_and_grades_keep_the_share() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(6, size=200)
    right = (left + rng.integers(1, 6, size=200)) % 6
    grades = PairwiseRanking(comparisons={"left": left, "right": right, "margin": rng.integers(-3, 4, 200)})
    votes = PairwiseRanking(comparisons={"left": left, "right": right, "label": left})
    for problem in (grades, votes):
        assert solver("hodge.iss").rule_for(problem) == "given"
        assert "share = 0.05, the default" in solve(problem, "hodge.iss", trace=False).solution.why


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(
    "given", [{"stop_rule": "huber", "m": 2.0}, {"stop_rule": "cross-validation", "folds": 3}]
)
def test_parameters_of_a_stop_rule_are_taken(name: str, given: dict[str, Any]) -> None:
    _, problem = margins(0.1, rows=150)
    assert solve(problem, name, trace=False, **given).solution.why.endswith(
        f"by stop_rule = {given['stop_rule']}"
    )


def test_larger_tables_of_margins_take_the_refit() -> None:
    rng, rows = np.random.default_rng(0), 21_000
    left = rng.integers(30, size=rows)
    right = (left + rng.integers(1, 30, size=rows)) % 30
    larger = PairwiseRanking(comparisons={"left": left, "right": right, "margin": rng.standard_normal(rows)})
    assert recommend(larger).solver.name == "hodge.hlasso-l2"
    assert recommend(margins(0.0)[1]).solver.name == "hodge.iss"


def test_so_many_outliers_that_noise_is_not_known_are_warned_of() -> None:
    _, problem = margins(0.2)
    rows = problem.comparisons
    left, right = (np.append(codes, codes + 12) for codes in (rows.left, rows.right))
    margin = np.append(1e6 * rows.margin, rows.margin)  # two groups in two units
    result = solve(PairwiseRanking(comparisons={"left": left, "right": right, "margin": margin}), "hodge.iss")
    said = {finding.identifier: finding for finding in result.findings}["ranking.flagged-outliers"]
    assert said.level == "warning"
    assert "check that all margins have one unit" in said.text
    fewer = {finding.identifier: finding for finding in solve(problem, "hodge.iss").findings}
    assert fewer["ranking.flagged-outliers"].level == "note"


def test_votes_that_are_mostly_taken_for_outliers_are_warned_of_without_a_word_on_units() -> None:
    rng = np.random.default_rng(0)
    left, right = np.triu_indices(8, 1)
    votes = {"left": np.tile(left, 3), "right": np.tile(right, 3), "label": rng.choice(2, 3 * len(left))}
    votes["label"] = np.where(votes["label"] == 1, votes["left"], votes["right"])
    result = solve(PairwiseRanking(comparisons=votes), "hodge.hlasso", lambda_=0.9)
    said = {finding.identifier: finding for finding in result.findings}["ranking.flagged-outliers"]
    assert said.level == "warning"
    assert "one ranking to find" in said.text
    assert "unit" not in said.text
