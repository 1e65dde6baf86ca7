"""Metrics against brute force, ranks and orders of an answer, and its tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank import metrics
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking

from optiframe import InvalidInput

values = st.lists(st.integers(-3, 3), min_size=2, max_size=12)


@settings(max_examples=40)
@given(values, st.randoms(use_true_random=False))
def test_the_area_is_the_share_of_pairs_in_the_right_order(strength: list[int], random: object) -> None:
    wrong = np.arange(len(strength)) % 2 == 0
    numbers = np.array(strength, dtype=float)
    pairs = [(a > b) + (a == b) / 2 for a in numbers[wrong] for b in numbers[~wrong]]
    assert metrics.area_under_curve(numbers, wrong) == pytest.approx(np.mean(pairs))


def test_the_area_needs_both_kinds() -> None:
    assert np.isnan(metrics.area_under_curve(np.ones(3), np.zeros(3, dtype=bool)))


def test_kendall_only_counts_pairs_of_one_component() -> None:
    truth, scores = np.array([1.0, 2.0, 3.0, 9.0, 1.0]), np.array([1.0, 2.0, 3.0, -5.0, 5.0])
    component = np.array([0, 0, 0, 1, 1])
    assert metrics.kendall_tau(truth, scores, component) == pytest.approx((3 - 1) / 4)
    assert np.isnan(metrics.kendall_tau(truth[:1], scores[:1], component[:1]))


def test_kendall_takes_scores_that_differ_by_rounding_for_tied() -> None:
    data = problem(truth={"item": [1, 2, 3], "score": [3.0, 2.0, 1.0]})
    taus = [
        data.metrics(data.ranking(np.array([1.0, 1.0 + gap, -2.0])))["kendall_tau"]
        for gap in (0, 1e-13, -1e-13)
    ]
    assert taus == pytest.approx([2 / np.sqrt(6)] * 3)


def test_gap_and_spread_tell_two_clean_groups_from_blurred_ones() -> None:
    upper = np.array([True, True, False, False])
    clean, blurred, mixed = np.array([2.0, 2, 1, 1]), np.array([3.0, 2, 1, 0]), np.array([3.0, 1, 2, 0])
    assert [metrics.score_gap(x, upper) for x in (clean, blurred, mixed)] == pytest.approx([1, 1 / 3, -1 / 3])
    assert [metrics.score_spread(x, upper) for x in (clean, blurred)] == pytest.approx([0, 0.25])
    assert metrics.score_gap(5 * blurred + 1, upper) == pytest.approx(1 / 3)
    assert np.isnan(metrics.score_gap(np.zeros(4), upper))


def answer(scores: list[float], component: list[int] | None = None, **more: object) -> Ranking:
    return Ranking(
        np.arange(len(scores)),
        np.array(scores),
        np.array(component or [0] * len(scores)),
        **more,  # type: ignore[arg-type]  # whichever fields a test sets
    )


def test_equal_scores_share_the_best_rank() -> None:
    assert answer([0.5, 2.0, 0.5 + 1e-12, -3.0]).rank.tolist() == [2, 1, 2, 4]
    assert answer([1.0, 2.0, 5.0, 6.0], [0, 0, 1, 1]).rank.tolist() == [2, 1, 2, 1]
    assert answer([0.0, 0.0]).rank.tolist() == [1, 1]


def test_flagged_rows_come_by_entry_then_by_strength() -> None:
    outliers, strength = np.array([0.0, 1.0, -2.0, 0.5, 3.0]), np.array([9.0, 1.0, 2.0, 3.0, 4.0])
    ranking = answer([0.0], outliers=outliers, entry=np.array([-1, 1, 1, 0, -1]), strength=strength)
    assert ranking.flagged.tolist() == [3, 2, 1, 4]
    assert answer([0.0], outliers=outliers).flagged.tolist() == [4, 2, 1, 3]
    assert answer([0.0]).flagged.tolist() == []
    assert repr(ranking) == "<ranking of 1 items, 4 comparisons taken for outliers>"


def problem(**more: object) -> PairwiseRanking:
    comparisons = {
        "worker": ["u", "u", "v", None],
        "left": [1, 2, 2, 1],
        "right": [2, 1, 3, 2],
        "label": [1, 1, 3, 2],
    }
    return PairwiseRanking(comparisons=comparisons, **more)


def answered(data: PairwiseRanking) -> Ranking:
    return data.ranking(
        np.array([0.5, 0.0, -0.5]),
        outliers=np.array([-1.5, 0.25, 0.0]),
        entry=np.array([0, 1, -1]),
        strength=np.array([3.0, 2.0, 1.0]),
    )


def test_answers_on_merged_rows_come_back_in_the_callers_rows_and_orientation() -> None:
    data = problem(outlier_truth=[0, 0, 1, 1])
    # Merged: (1, 2) with y = -1 (row 3), (1, 2) with y = +1 (rows 0 and 1), (2, 3) with y = -1 (row 2).
    assert data.merged.inverse.tolist() == [1, 1, 2, 0]
    ranking = answered(data)
    assert ranking.outliers.tolist() == [0.25, -0.25, 0.0, -1.5]
    assert ranking.entry.tolist() == [1, 1, -1, 0]
    assert data.residuals(ranking).tolist() == [0.5, -0.5, -1.5, -1.5]
    found = data.metrics(ranking)
    assert found == pytest.approx({"outlier_auc": 0.5, "outlier_precision": 1 / 3, "outlier_recall": 0.5})


def test_tables_name_outliers_in_order_and_workers_with_their_share(tmp_path: Path) -> None:
    data = problem()
    ranking = answered(data)
    tables = data.to_tables(ranking)
    assert list(tables) == ["ranking", "outliers", "workers"]
    outliers = tables["outliers"]
    assert outliers["row"].tolist() == [3, 0, 1]
    assert outliers["worker"].tolist() == [None, "u", "u"]
    assert outliers["left"].tolist() == [1, 1, 2]
    assert outliers["margin"].tolist() == [-1.0, 1.0, -1.0]
    workers = tables["workers"]
    assert (workers["comparisons"].tolist(), workers["outliers"].tolist()) == ([2, 1], [2, 0])
    path = tmp_path / "few.csv"
    path.write_text("left,right,label\n1,2,1\n\n2,3,3\n")
    filed = PairwiseRanking(comparisons=path)
    lines = filed.to_tables(filed.ranking(np.zeros(3), outliers=np.ones(2)))["outliers"]["line"]
    assert lines.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        ([1, 2], r"is a Ranking, .*not a list"),
        (answer([1.0, 2.0]), "other items"),
        (
            Ranking(problem().item_ids, np.zeros(3), np.zeros(3, dtype=int), outliers=np.zeros(3)),
            "outliers must be 4 numbers, one for each comparison, got 3",
        ),
    ],
)
def test_answers_of_another_problem_are_refused(solution: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        problem().check(solution)
