"""Where a path ends and how it is followed: units, two ways to stop, and work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.path import path as path_module
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso
from optiframe_hodgerank.solvers.inverse_scale import InverseScaleSpace
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.tools.identifiability import conditions

from optiframe import InvalidInput, solve

from .path_twins import columns, votes


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-130, 1e-3, 1e3, 1e130])
def test_the_unit_of_the_margins_does_not_matter_to_bregman(unit: float) -> None:
    table = votes(3, noise=0.1).comparisons
    one, other = (
        PairwiseRanking(comparisons={"left": table.left, "right": table.right, "margin": by * table.margin})
        for by in (1.0, unit)
    )
    first, second = (solve(p, LinearizedBregman(share=0.2), trace=False).solution for p in (one, other))
    assert first.flagged.tolist() == second.flagged.tolist()
    assert second.scores / unit == pytest.approx(first.scores)


def test_damping_is_the_papers_for_votes() -> None:
    assert LinearizedBregman().kappa_for(votes(0).graph) == 50.0


def test_conditions_take_the_damping_of_the_solver() -> None:
    given = votes(3, items=5, rows=200, noise=0.1)
    found = conditions(given, solve(given, LinearizedBregman(share=0.05), trace=False).solution)
    assert found.kappa == LinearizedBregman().kappa_for(given.graph) != 50


def test_of_huge_margins_that_all_enter_in_the_first_step_only_the_share_is_flagged() -> None:
    table = votes(3, noise=0.1).comparisons
    margin = 1e130 * table.margin
    given = PairwiseRanking(comparisons={"left": table.left, "right": table.right, "margin": margin})
    result = solve(given, LinearizedBregman(kappa=50.0, share=0.05), trace=False)
    assert len(result.detail.row) == 3
    assert np.isfinite(result.solution.scores).all()


@pytest.mark.parametrize(
    ("solver", "given", "message"),
    [
        (LinearizedBregman, {"share": 0.1, "t": 1.0}, "share says where to stop, and so does t"),
        (InverseScaleSpace, {"share": 0.1, "t": 1.0}, "share says where to stop, and so does t"),
        (HuberLasso, {"share": 0.1, "lambda_": 1.0}, "share says where to stop, and so does lambda_"),
        (HuberLasso, {"stop_rule": "huber", "share": 0.1}, "huber chooses where to stop, and so does share"),
        (LinearizedBregman, {"stop_rule": "cross-validation", "t": 1.0}, "and so does t"),
        (LinearizedBregman, {"threads": 4}, "threads is only used with"),
        (HuberLasso, {"m": 2.0}, "m is only used with"),
        (HuberLasso, {"folds": 9, "stop_rule": "huber"}, "folds is only used with"),
        (LinearizedBregman, {"m": 2.0, "stop_rule": "cross-validation"}, "m is only used with"),
        (HuberLasso, {"per_decade": 3, "method": "homotopy"}, "per_decade is only used with"),
        (HuberLasso, {"accuracy": 1e-4}, "accuracy is only used with method = grid and lambda_"),
        (HuberLasso, {"accuracy": 1e-4, "share": 0.1, "method": "grid"}, "accuracy is only used with"),
        (HuberLasso, {"accuracy": 1e-4, "lambda_": 1.0, "method": "homotopy"}, "accuracy is only used with"),
    ],
)
def test_two_ways_to_stop_and_parameters_that_would_change_nothing_are_refused(
    solver: type[Any], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        solver(**given)


def test_a_path_is_not_asked_at_negative_values_nor_for_shares_beyond_one() -> None:
    for solver in (LinearizedBregman(), HuberLasso(), InverseScaleSpace()):
        path = solve(votes(1), solver, trace=False).detail
        for value in (-1.0, float("nan")):
            with pytest.raises(InvalidInput, match="is not negative along a path"):
                path.at(value)
            with pytest.raises(InvalidInput, match="within"):
                path.at_fraction(value)
        with pytest.raises(InvalidInput, match="within"):
            path.at_fraction(1.5)
        if path.parameter == "lambda":  # before the first knot nothing is an outlier
            assert path.at(np.inf) == pytest.approx(path.scores[0])


def test_many_different_margins_are_not_followed_knot_by_knot() -> None:
    rows = columns(0, 100, 50_000)
    many = PairwiseRanking(comparisons=rows)
    assert HuberLasso().by_grid(many)
    assert not HuberLasso(share=0.001).by_grid(many)
    assert not HuberLasso(method="homotopy").by_grid(many)
    assert "from knot to knot over 50,000 different comparisons" in str(InverseScaleSpace().unsuited(many))
    assert InverseScaleSpace(share=0.001).unsuited(many) is None
    votes_only = {**rows, "margin": np.sign(rows["margin"])}
    assert not HuberLasso().by_grid(PairwiseRanking(comparisons=votes_only))


@pytest.mark.parametrize(
    "solver", [LinearizedBregman(share=0.2), HuberLasso(share=0.2), InverseScaleSpace(share=0.2)]
)
def test_a_path_is_written_beside_the_answer(solver: Any) -> None:
    table = votes(1).comparisons
    named = {
        "left": [f"x{i}" for i in table.left],
        "right": [f"x{i}" for i in table.right],
        "margin": table.margin,
    }
    result = solve(PairwiseRanking(comparisons=named), solver, trace=False)
    tables, path = result.to_tables(), result.detail
    assert tables["path"][path.parameter].tolist() == path.knots.tolist()
    assert tables["path"]["active"].tolist() == path.active.tolist()
    assert tables["path"]["entered"].sum() == (path.knot < len(path)).sum()
    scores = tables["path_scores"]
    assert scores["item"][:6].tolist() == result.solution.items.tolist()
    assert scores["score"].reshape(-1, 6) == pytest.approx(path.scores)


def test_of_a_long_path_scores_at_some_knots_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_module, "_TABLE", 24)
    path = solve(votes(1, noise=0.1), HuberLasso(share=0.5), trace=False).detail
    assert len(path) > 4
    written = path.tables()["path_scores"]["lambda"].reshape(-1, 6)[:, 0]
    assert len(written) == 4
    assert written[0] == path.knots[0]
    assert written[-1] == path.knots[-1]


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("method", ["homotopy", "grid"])
def test_the_unit_of_the_weights_does_not_matter_to_huber_lasso(method: Any, unit: float) -> None:
    table = columns(0, 8, 60)
    one, other = (
        solve(PairwiseRanking(comparisons={**table, "weight": np.full(60, each)}), HuberLasso(method=method))
        for each in (1.0, unit)
    )
    assert other.solution.scores == pytest.approx(one.solution.scores, abs=1e-9)
    assert other.solution.flagged.tolist() == one.solution.flagged.tolist()
