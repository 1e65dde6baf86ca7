"""The problem: its inputs, answers, metrics, formulation and findings."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_rankone.answer import accuracy, log_odds
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import InvalidInput, Unsuited

from .slow import SMALL, coin, rows, said, single_coin, texts


def three_agree(*more: tuple[Any, Any, Any], groups: int = 1, tasks: int = 8) -> dict[str, Any]:
    """Groups of three workers who give the same labels; groups share no task. And more rows."""
    same = [
        (f"t{group}.{task}", f"w{group}.{worker}", task % 2)
        for group in range(groups)
        for task in range(tasks)
        for worker in range(3)
    ]
    return rows(*same, *more)


# What the answer says


def test_majority_keeps_ties_and_gives_the_share_of_the_winner() -> None:
    solution = optiframe.solve(LabelAggregation(labels=SMALL), "labels.majority").solution
    columns = solution.columns()
    assert columns["task"].tolist() == [1, 2, 3]
    assert columns["label"].tolist() == ["x", None, "x"]
    assert columns["confidence"] == pytest.approx([2 / 3, 1 / 2, 1])
    assert columns["tied"].tolist() == ["", "x|y", ""]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_answer_comes_back_as_the_kind_of_frame_that_went_in(kind: Any) -> None:
    problem = LabelAggregation(labels=kind(SMALL))
    frame = optiframe.solve(problem, "labels.majority").solution.frame()
    assert type(frame) is type(kind(SMALL))
    assert problem.fingerprint() == LabelAggregation(labels=SMALL).fingerprint()


def test_the_order_of_rows_does_not_matter() -> None:
    backwards = {name: column[::-1] for name, column in SMALL.items()}
    assert LabelAggregation(labels=backwards) == LabelAggregation(labels=SMALL)


def test_ties_are_resolved_by_the_seed_and_evenly() -> None:
    labels = {"task": np.repeat(np.arange(2000), 2), "worker": [0, 1] * 2000, "label": [0, 1] * 2000}
    solution = optiframe.solve(LabelAggregation(labels=labels), "labels.majority").solution
    assert np.array_equal(solution.predicted(3), solution.predicted(3))
    assert not np.array_equal(solution.predicted(3), solution.predicted(4))
    assert solution.predicted(3).mean() == pytest.approx(0.5, abs=0.05)


def test_tables_of_an_answer_hold_labels_and_workers() -> None:
    problem = coin(0, np.full(6, 0.6), tasks=60, per_task=4)
    plain = optiframe.solve(problem, "labels.majority").to_tables()
    assert list(plain) == ["labels", "workers", "classes", "probabilities"]
    assert list(plain["workers"]) == ["worker", "labels"]
    result = optiframe.solve(problem, "rankone.pgd")
    workers = result.to_tables()["workers"]
    ends = ["skill_low", "skill_high", "accuracy_low", "accuracy_high"]
    assert list(workers) == ["worker", "labels", "skill", "accuracy", *ends, "intervals_valid"]
    assert (workers["skill_low"] < workers["skill"]).all()
    assert (workers["skill"] < workers["skill_high"]).all()
    assert workers["labels"].sum() == 240
    for end in ("", "_low", "_high"):
        assert workers[f"accuracy{end}"] == pytest.approx((1 + workers[f"skill{end}"]) / 2)


# Metrics


def test_errors_give_fractional_credit_and_skip_unknown_truths() -> None:
    truth = {"task": [1, 2, 3], "label": ["x", "y", None]}
    problem = LabelAggregation(labels=SMALL, truth=truth, tie_seed=0)
    result = optiframe.solve(problem, "labels.majority")
    assert result.metrics["error"] == pytest.approx((0 + 1 / 2) / 2)
    assert result.metrics["balanced_error"] == pytest.approx((0 + 1 / 2) / 2)
    resolved = result.solution.predicted(0)[:2]
    assert result.metrics["error_resolved"] == np.mean(resolved != ["x", "y"])


def test_balanced_error_is_the_mean_over_true_classes() -> None:
    labels = {"task": [1, 2, 3, 4], "worker": ["a"] * 4, "label": ["x", "x", "y", "x"]}
    truth = {"task": [1, 2, 3, 4], "label": ["x", "x", "x", "y"]}
    metrics = optiframe.solve(LabelAggregation(labels=labels, truth=truth), "labels.majority").metrics
    assert metrics["error"] == pytest.approx(2 / 4)
    assert metrics["balanced_error"] == pytest.approx((1 / 3 + 1) / 2)


def test_without_truth_there_are_no_metrics() -> None:
    assert optiframe.solve(LabelAggregation(labels=SMALL), "labels.majority").metrics == {}


# Formulation


def test_weights_follow_the_parameter() -> None:
    inputs = single_coin(1, np.full(5, 0.5), tasks=20, per_task=3)
    counts = {
        kind: LabelAggregation(**inputs, weights=kind).formulation.problem.least_squares.known.toarray()  # type: ignore[union-attr]
        for kind in ("count", "count-squared", "binary")
    }
    assert np.array_equal(counts["count-squared"], counts["count"] ** 2)
    assert np.array_equal(counts["binary"], counts["count"] > 0)


@pytest.mark.parametrize(("classes", "least"), [(2, -1.0), (3, -0.5)])
def test_the_box_shrinks_with_the_root_of_the_number_of_tasks_and_holds_zero(
    classes: int, least: float
) -> None:
    label = np.arange(21) % classes
    task, worker = np.arange(21), np.array([0] * 16 + [1] * 4 + [2])
    problem = LabelAggregation(labels={"task": task, "worker": worker, "label": label})
    lower, upper = problem.box
    assert upper == pytest.approx([1 - 1 / 4, 1 - 1 / 2, 0.0])
    assert lower == pytest.approx([min(least + 1 / 4, 0), min(least + 1 / 2, 0), 0.0])


@given(st.integers(2, 6), st.floats(-1, 1))
def test_vote_weights_are_log_odds_of_accuracies(classes: int, share: float) -> None:
    skill = share if share >= 0 else share / (classes - 1)
    p = accuracy(np.array([skill]), classes)[0]
    assert skill == pytest.approx((classes * p - 1) / (classes - 1), abs=1e-12)
    weight = log_odds(np.array([skill]), classes)[0]
    assert np.isfinite(weight)
    if 1e-6 < p < 1 - 1e-6:
        assert weight == pytest.approx(np.log((classes - 1) * p / (1 - p)), abs=1e-9)
    if classes == 2 and abs(skill) < 0.999:
        assert weight == pytest.approx(np.log((1 + skill) / (1 - skill)), abs=1e-9)


# Signs and identifiability


def test_the_sign_is_settled_in_each_component() -> None:
    problem = LabelAggregation(labels=three_agree(groups=2))
    skills = optiframe.solve(problem, "rankone.pgd").solution.skills
    assert (skills > 0.5).all()
    first = problem.worker_graph.component == problem.worker_graph.component[0]
    assert problem.with_positive_sums(np.where(first, -skills, skills)) == pytest.approx(skills)
    assert problem.with_positive_sums(-skills) == pytest.approx(skills)


def test_a_reversed_skill_is_clipped_where_the_box_reaches_less_far_down() -> None:
    inputs = single_coin(0, np.full(3, 0.5), tasks=30, per_task=3, classes=3)
    problem = LabelAggregation(**inputs)
    lower, _ = problem.box
    settled = problem.with_positive_sums(np.array([0.8, -0.45, -0.45]))
    assert settled == pytest.approx([lower[0], 0.45, 0.45])


def test_separate_groups_are_named() -> None:
    result = optiframe.solve(LabelAggregation(labels=three_agree(groups=2)), "rankone.pgd")
    finding = said(result, "2 groups")
    assert finding.level == "warning"
    assert len(finding.about) == 3
    assert "groups" not in texts(optiframe.solve(LabelAggregation(labels=three_agree()), "rankone.pgd"))


def test_bipartite_groups_are_named_and_others_not() -> None:
    labels = three_agree(*((f"p{i}", who, i % 2) for i in range(8) for who in ("left", "right")))
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd")
    assert said(result, "bipartite").about == ("left", "right")


def test_a_worker_with_one_label_has_no_weight_and_is_named() -> None:
    labels = three_agree(("t0.0", "newcomer", 1))
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd")
    place = result.solution.worker_ids.tolist().index("newcomer")
    assert result.solution.skills[place] == 0.0
    assert "without weight in the vote: newcomer" in texts(result, "note")


def test_two_who_mostly_disagree_leave_ties_and_a_warning() -> None:
    pair = [row for i in range(8) for row in ((f"p{i}", "left", int(i == 7)), (f"p{i}", "right", 1))]
    result = optiframe.solve(LabelAggregation(labels=three_agree(*pair)), "rankone.pgd")
    assert result.status == "converged"
    assert said(result, "nothing says which side is right").about == ("left", "right")
    assert result.solution.tied.sum() == 8


# Input


def test_column_names_can_be_mapped() -> None:
    labels = {"item": SMALL["task"], "rater": SMALL["worker"], "answer": SMALL["label"]}
    problem = LabelAggregation(
        labels=labels,
        truth={"item": [1], "gold": ["x"]},
        columns={"task": "item", "worker": "rater", "label": "answer", "truth": "gold"},
    )
    assert problem.labels.task_ids.tolist() == [1, 2, 3]
    assert optiframe.solve(problem, "labels.majority").metrics["error"] == 0.0


def test_truths_that_repeat_are_merged() -> None:
    problem = LabelAggregation(labels=SMALL, truth={"task": [1, 1, 2], "label": ["x", "x", "y"]})
    assert problem.truth_codes.tolist() == [0, 1, -1]


def test_a_start_must_be_an_answer_to_the_same_problem() -> None:
    problem = coin(0, np.full(5, 0.6), tasks=30, per_task=3)
    other = coin(1, np.full(6, 0.6), tasks=30, per_task=3)
    with pytest.raises(InvalidInput, match="other workers"):
        optiframe.solve(problem, "rankone.pgd", start=optiframe.solve(other, "rankone.pgd").solution)
    with pytest.raises(InvalidInput, match="is an Aggregation"):
        optiframe.solve(problem, "labels.one-coin-em", start=[1.0])
    with pytest.raises(Unsuited, match="cannot be carried over"):
        optiframe.solve(problem, "rankone.pgd", start=optiframe.solve(problem, "labels.majority").solution)


def test_a_problem_survives_pickling_with_the_same_content() -> None:
    problem = coin(0, np.full(5, 0.6), tasks=30, per_task=3)
    optiframe.solve(problem, "rankone.pgd")
    copy = pickle.loads(pickle.dumps(problem))
    assert copy == problem
    assert set(copy.__dict__) <= set(LabelAggregation.model_fields) | {"_fingerprint"}
