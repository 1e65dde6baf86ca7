"""A share is the most of the comparisons that any solver takes for outliers; equal ones stay together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.problem import PairwiseRanking

from optiframe import Result, solve, solver

from .path_twins import EXACT, votes

SOLVERS: dict[str, dict[str, Any]] = {
    "lbi": {"name": "hodge.lbi"},
    "lbi in large steps": {"name": "hodge.lbi", "kappa": 2.0, "step": 1.0},
    "lbi by gradient": {"name": "hodge.lbi", "variant": "gradient"},
    "iss": {"name": "hodge.iss"},
    "homotopy": {"name": "hodge.hlasso", "method": "homotopy"},
    "grid": {"name": "hodge.hlasso", "method": "grid", "per_decade": 3},
    "refit": {"name": "hodge.hlasso-l2"},
    "iht": {"name": "hodge.iht"},
    "ilts": {"name": "hodge.ilts"},
    "capped": {"name": "hodge.capped"},
}
PATHS = ["lbi", "iss", "homotopy", "grid"]
TEA = PairwiseRanking(
    comparisons={
        "worker": ["ann", "bob", "dee"] * 3 + ["cy"] * 3,
        "left": ["tea"] * 3 + ["coffee"] * 3 + ["tea"] * 3 + ["tea", "coffee", "tea"],
        "right": ["coffee"] * 3 + ["milk"] * 3 + ["milk"] * 3 + ["coffee", "milk", "milk"],
        "label": ["tea"] * 3 + ["coffee"] * 3 + ["tea"] * 3 + ["tea", "coffee", "milk"],
    }
)
"""Twelve votes, of which one, the last, stands against all others."""


def solved(name: str, problem: PairwiseRanking, **given: Any) -> Result[Any]:
    return solve(problem, solver(**SOLVERS[name], **given), trace=False, budget={"iterations": 200_000})


def said(result: Result[Any]) -> list[tuple[str, str]]:
    named = [one for one in result.findings if one.identifier == "ranking.share-not-reached"]
    return [(one.level, one.text) for one in named]


@pytest.mark.slow
@pytest.mark.parametrize("noise", [None, 0.1])
@pytest.mark.parametrize("name", SOLVERS)
def test_at_most_the_share_is_flagged_and_equal_comparisons_all_or_none(
    name: str, noise: float | None
) -> None:
    for seed, share in enumerate([0.01, 0.05, 0.1, 0.2]):
        problem = votes(seed, rows=120, noise=noise)
        result = solved(name, problem, share=share)
        most, taken = int(share * problem.rows), len(result.solution.flagged)
        flagged = np.bincount(problem.merged.inverse, result.solution.outliers != 0)
        assert taken <= most
        assert ((flagged == 0) | (flagged == problem.merged.count)).all()
        assert bool(said(result)) == (taken < most or most == 0)
        if noise is not None:  # no two comparisons are equal
            assert taken == most


@pytest.mark.parametrize("name", SOLVERS)
def test_one_vote_against_all_others_is_the_only_outlier(name: str) -> None:
    assert solved(name, TEA, share=0.1).solution.flagged.tolist() == [11]
    more = solved(name, TEA, share=0.2)
    assert more.solution.flagged.tolist() == [11]
    ((level, text),) = said(more)
    assert level == "warning"
    assert text.startswith("1 of at most 2 comparisons taken for outliers (share = 0.2): the next ")
    assert "look equally wrong, so none of them is taken" in text
    if name in ("lbi", "iss"):  # Huber-LASSO would have to take all twelve
        assert "; a share above 0." in text
    assert "above 1" not in text


@pytest.mark.parametrize("name", SOLVERS)
def test_a_share_of_less_than_one_comparison_is_named_with_the_least_that_takes_one(name: str) -> None:
    result = solved(name, TEA)
    assert not len(result.solution.flagged)
    ((level, text),) = said(result)
    assert level == "warning"
    assert "share = 0.05, the default, of 12 comparisons is less than one" in text
    assert "set share to 0.084 or more" in text


@pytest.mark.parametrize("name", PATHS)
def test_where_nothing_contradicts_the_scores_a_note_says_so(name: str) -> None:
    ((level, text),) = said(solved(name, EXACT, share=0.5))
    assert level == "note"
    assert text.startswith(
        "0 of at most 1 comparisons taken for outliers (share = 0.5): no other comparison "
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("noise", [None, 0.1])
def test_a_path_tells_the_scores_of_every_smaller_share(name: str, noise: float | None) -> None:
    problem = votes(4, rows=120, noise=noise)
    path = solved(name, problem, share=0.3).detail
    for share in (0.02, 0.1, 0.25, 0.3):
        # The grid has values of lambda, and steps of Bregman end within one.
        near = {"grid": 0.1, "lbi": 5e-3}.get(name, 1e-9)
        assert path.at_fraction(share) == pytest.approx(
            solved(name, problem, share=share).solution.scores, abs=near
        )


def test_only_paths_followed_from_knot_to_knot_are_exact_between_knots() -> None:
    problem = votes(2, rows=120, noise=0.1)
    exact = {name: solved(name, problem, share=0.2).detail for name in PATHS}
    assert {name: path.exact for name, path in exact.items()} == {
        "lbi": False,
        "iss": True,
        "homotopy": True,
        "grid": False,
    }
    assert "interpolated between knots" in repr(exact["lbi"])
    for name, stop in (("iss", "t"), ("homotopy", "lambda_")):
        path = exact[name]
        between = 0.3 * path.knots[-2] + 0.7 * path.knots[-1]
        straight = solved(name, problem, **{stop: float(between)}).solution
        assert path.at(between) == pytest.approx(straight.scores, abs=1e-9)
