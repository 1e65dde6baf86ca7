"""Solvers for a given number of outliers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.thresholding import (
    IterativeHardThresholding,
    IterativeLeastTrimmedSquares,
    largest,
)

from optiframe import solve

from .path_twins import HANGING, columns, incidence, unmerged, votes


def by_hand(ranking: PairwiseRanking, share: float, trimmed: bool) -> np.ndarray:
    """Scores after many alternations on the caller's rows, dense."""
    graph = unmerged(ranking)
    x, y = incidence(graph), graph.margin
    most = int(np.floor(share * len(y) + 1e-9))
    scores = np.linalg.pinv(x) @ y
    for _ in range(300):
        misfit = y - x @ scores
        flagged = np.zeros(len(y), dtype=bool)
        flagged[np.argsort(-np.abs(misfit), kind="stable")[:most]] = True
        if trimmed:
            scores = np.linalg.pinv(x[~flagged]) @ y[~flagged]
        else:
            scores = np.linalg.pinv(x) @ (y - np.where(flagged, misfit, 0.0))
    return scores


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize(
    "solver", [IterativeHardThresholding(share=0.1), IterativeLeastTrimmedSquares(share=0.1)]
)
def test_scores_are_those_of_the_method_by_hand(
    solver: IterativeHardThresholding | IterativeLeastTrimmedSquares, seed: int
) -> None:
    ranking = votes(seed, noise=0.1)
    result = solve(ranking, solver, budget={"tolerance": 1e-12}, trace=False)
    trimmed = isinstance(solver, IterativeLeastTrimmedSquares)
    assert result.solution.scores == pytest.approx(by_hand(ranking, 0.1, trimmed), abs=1e-8)
    assert np.count_nonzero(result.solution.outliers) == 6


def test_the_number_of_outliers_counts_rows_also_where_equal_ones_are_merged() -> None:
    comparisons = {"left": [0] * 10, "right": [1] * 10, "margin": [1.0] * 7 + [-1.0] * 3}
    ranking = PairwiseRanking(comparisons=comparisons)
    few, enough = (solve(ranking, IterativeLeastTrimmedSquares(share=share)) for share in (0.2, 0.3))
    # Two may be left out, and nothing tells which of the three equal dissenters: none is.
    assert not few.solution.outliers.any()
    assert few.solution.scores == pytest.approx([0.2, -0.2])
    assert np.flatnonzero(enough.solution.outliers).tolist() == [7, 8, 9]
    assert enough.solution.scores == pytest.approx([0.5, -0.5])


@pytest.mark.parametrize("name", ["hodge.iht", "hodge.ilts"])
def test_equal_comparisons_are_left_out_by_weight(name: str) -> None:
    rows = {
        "left": ["a"] * 4 + ["b", "a"],
        "right": ["b"] * 4 + ["c", "c"],
        "margin": [4.0, 4.0, 1.0, 1.0, 1.0, 2.0],
        "weight": [1.0, 9.0, 5.0, 5.0, 3.0, 3.0],
    }
    ranking = PairwiseRanking(comparisons=rows)
    solution = solve(ranking, name, share=0.2, budget={"tolerance": 1e-12}).solution
    graph, weight = unmerged(ranking), np.sqrt(rows["weight"])
    x, y = incidence(graph), graph.margin
    assert solution.flagged.tolist() == [1]  # of the two equal ones that which weighs more
    kept = solution.outliers == 0
    rest = np.linalg.pinv((x * weight[:, None])[kept]) @ (y * weight)[kept]
    assert solution.scores == pytest.approx(rest, abs=1e-8)


def test_largest_fills_up_rows_in_order_of_size() -> None:
    taken = largest(np.array([1.0, 3.0, 2.0, 3.0]), np.array([5, 2, 4, 1]), 6)
    assert taken.tolist() == [0, 2, 3, 1]


def test_trimming_warns_where_the_rest_falls_into_parts() -> None:
    result = solve(HANGING, IterativeLeastTrimmedSquares(share=2 / 17))
    assert any("in 2 parts" in finding.text for finding in result.findings)


@pytest.mark.parametrize("unit", [1e-130, 1e-8, 1e130])
@pytest.mark.parametrize("solver", ["hodge.iht", "hodge.ilts", "hodge.capped"])
def test_the_unit_of_the_margins_does_not_matter_to_thresholding(solver: str, unit: float) -> None:
    rows = columns(0, 8, 60)
    one, other = (
        solve(PairwiseRanking(comparisons={**rows, "margin": by * rows["margin"]}), solver)
        for by in (1.0, unit)
    )
    assert other.iterations == one.iterations
    assert other.solution.scores / unit == pytest.approx(one.solution.scores)
