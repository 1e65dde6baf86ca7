"""The problem: its inputs, answers, metrics, formulation and findings."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.answer import accuracy, log_odds
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import InvalidInput, Unsuited

from .slow import co_occurrence, single_coin

SMALL = {"task": [1, 1, 1, 2, 2, 3], "worker": list("abcaba"), "label": list("xxyyxx")}


def three_agree(groups: int = 1, tasks: int = 8) -> dict[str, Any]:
    """Groups of three workers who give the same labels; groups share no task."""
    rows = [
        (f"t{group}.{task}", f"w{group}.{worker}", task % 2)
        for group in range(groups)
        for task in range(tasks)
        for worker in range(3)
    ]
    task, worker, label = (list(column) for column in zip(*rows, strict=True))
    return {"task": task, "worker": worker, "label": label}


def texts(result: Any, level: str | None = None) -> str:
    return "\n".join(f.text for f in result.findings if level in (None, f.level))


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
    problem = LabelAggregation(**single_coin(0, np.full(6, 0.6), tasks=60, per_task=4))
    plain = optiframe.solve(problem, "labels.majority").to_tables()
    assert list(plain) == ["labels", "workers"]
    assert list(plain["workers"]) == ["worker", "labels"]
    result = optiframe.solve(problem, "rankone.pgd")
    workers = result.to_tables()["workers"]
    assert list(workers) == ["worker", "labels", "skill", "accuracy", "skill_low", "skill_high"]
    assert (workers["skill_low"] < workers["skill"]).all()
    assert (workers["skill"] < workers["skill_high"]).all()
    assert workers["labels"].sum() == 240
    assert workers["accuracy"] == pytest.approx((1 + workers["skill"]) / 2)


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


def test_a_true_label_that_nobody_gave_is_no_class_and_always_missed() -> None:
    problem = LabelAggregation(labels=SMALL, truth={"task": [1, 3], "label": ["x", "z"]})
    assert problem.classes.tolist() == ["x", "y"]
    assert optiframe.solve(problem, "labels.majority").metrics["error"] == pytest.approx(1 / 2)


# Formulation


@pytest.mark.parametrize("classes", [2, 3])
def test_correlations_are_those_of_the_paper(classes: int) -> None:
    problem = LabelAggregation(**single_coin(1, np.full(6, 0.5), tasks=20, per_task=3, classes=classes))
    shared, agreed = co_occurrence(problem)
    completion = problem.formulation.problem  # type: ignore[union-attr]  # it always formulates
    known = shared > 0
    expected = classes / (classes - 1) * agreed[known] / shared[known] - 1 / (classes - 1)
    assert completion.values.toarray()[known] == pytest.approx(expected)
    assert np.array_equal(completion.weights.toarray(), shared)
    if classes == 2:  # the mean of Y_i Y_j for labels -1 and 1
        signed = (agreed - (shared - agreed))[known] / shared[known]
        assert completion.values.toarray()[known] == pytest.approx(signed)


def test_weights_follow_the_parameter() -> None:
    inputs = single_coin(1, np.full(5, 0.5), tasks=20, per_task=3)
    counts = {
        kind: LabelAggregation(**inputs, weights=kind).formulation.problem.weights.toarray()  # type: ignore[union-attr]
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


def test_posteriors_follow_bayes_rule() -> None:
    problem = LabelAggregation(labels={"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [0, 1, 2]})
    p = np.array([0.8, 0.5])
    solution = problem.weighted_vote((3 * p - 1) / 2)
    slow = np.array([0.8 * 0.25, 0.1 * 0.5, 0.1 * 0.25])
    assert solution.probabilities[0] == pytest.approx(slow / slow.sum())
    assert solution.probabilities[1] == pytest.approx([0.1, 0.1, 0.8])


# Invariance


@given(st.integers(0, 200), st.sampled_from(["labels.majority", "labels.one-coin-em", "rankone.pgd"]))
@settings(max_examples=20)
def test_renaming_tasks_workers_and_classes_renames_the_answer(seed: int, solver: str) -> None:
    rng = np.random.default_rng(seed)
    inputs = single_coin(seed, rng.uniform(0, 0.9, 7), tasks=25, per_task=4, classes=3)
    tasks, workers, classes = rng.permutation(25), rng.permutation(7), rng.permutation(3)
    renamed = {
        "task": tasks[inputs["labels"]["task"]],
        "worker": workers[inputs["labels"]["worker"]],
        "label": classes[inputs["labels"]["label"]],
    }
    here = optiframe.solve(LabelAggregation(labels=inputs["labels"]), solver).solution
    there = optiframe.solve(LabelAggregation(labels=renamed), solver).solution
    ours = [np.searchsorted(there.classes, classes[here.classes])]
    assert there.scores[tasks][:, ours[0]] == pytest.approx(here.scores, abs=1e-4)
    if here.skills is not None:
        assert there.skills[workers] == pytest.approx(here.skills, abs=1e-4)


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


def test_a_liar_among_honest_workers_gets_a_negative_skill_and_is_named() -> None:
    inputs = single_coin(2, np.array([0.8, 0.7, 0.8, 0.6, -0.8]), tasks=200, per_task=5)
    result = optiframe.solve(LabelAggregation(**inputs), "rankone.pgd")
    assert result.solution.skills == pytest.approx([0.8, 0.7, 0.8, 0.6, -0.8], abs=0.15)
    finding = next(f for f in result.findings if "reliably wrong" in f.text)
    assert finding.about == (4,)


def test_separate_groups_are_named() -> None:
    result = optiframe.solve(LabelAggregation(labels=three_agree(groups=2)), "rankone.pgd")
    finding = next(f for f in result.findings if "2 groups" in f.text)
    assert finding.level == "warning"
    assert len(finding.about) == 3
    assert "groups" not in texts(optiframe.solve(LabelAggregation(labels=three_agree()), "rankone.pgd"))


def test_bipartite_groups_are_named_and_others_not() -> None:
    labels = three_agree()
    labels["task"] += [f"p{i}" for i in range(8) for _ in range(2)]
    labels["worker"] += ["left", "right"] * 8
    labels["label"] += [i % 2 for i in range(8) for _ in range(2)]
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd")
    finding = next(f for f in result.findings if "bipartite" in f.text)
    assert finding.about == ("left", "right")


def test_one_worker_is_his_own_answer_and_his_skill_is_called_assumed() -> None:
    labels = {"task": [1, 2, 3, 4, 5], "worker": ["a"] * 5, "label": list("xyxyx")}
    for solver in ("labels.majority", "rankone.pgd", "labels.one-coin-em"):
        result = optiframe.solve(LabelAggregation(labels=labels), solver)
        assert result.solution.predicted().tolist() == list("xyxyx")
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd")
    assert "1 worker sharing no task with anyone" in texts(result, "warning")


def test_a_worker_with_one_label_has_no_weight_and_is_named() -> None:
    labels = three_agree()
    labels["task"].append("t0.0")
    labels["worker"].append("newcomer")
    labels["label"].append(1)
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd")
    place = result.solution.worker_ids.tolist().index("newcomer")
    assert result.solution.skills[place] == 0.0
    assert "without weight in the vote: newcomer" in texts(result, "note")


def test_two_who_mostly_disagree_leave_ties_and_a_warning() -> None:
    labels = three_agree()
    labels["task"] += [f"p{i}" for i in range(8) for _ in range(2)]
    labels["worker"] += ["left", "right"] * 8
    labels["label"] += [0, 1] * 7 + [1, 1]
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd")
    assert result.status == "converged"
    finding = next(f for f in result.findings if "which side is right" in f.text)
    assert finding.about == ("left", "right")
    assert result.solution.tied.sum() == 8


def test_when_all_skills_are_zero_every_task_is_tied_and_the_finding_is_an_error() -> None:
    labels = {"task": [1, 1, 2, 2], "worker": list("abcd"), "label": list("xyxy")}
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd")
    assert result.solution.tied.all()
    assert "every skill is zero" in texts(result, "error")


@pytest.mark.parametrize("solver", ["labels.one-coin-em", "rankone.pgd"])
def test_workers_who_all_agree_give_finite_answers(solver: str) -> None:
    result = optiframe.solve(LabelAggregation(labels=three_agree()), solver)
    assert np.isfinite(result.solution.scores).all()
    assert result.solution.predicted().tolist() == [0, 1] * 4


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


def test_an_empty_truth_in_a_file_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("task,worker,label\n1,a,0\n2,a,1\n3,a,1\n")
    (tmp_path / "truth.csv").write_text("task,label\n1,0\n2,\n3,0\n9,1\n")
    problem = LabelAggregation(labels=tmp_path / "labels.csv", truth=tmp_path / "truth.csv")
    result = optiframe.solve(problem, "labels.majority")
    assert result.metrics["error"] == pytest.approx(1 / 2)
    assert "1 task in the truth without any label; ignored: 9" in texts(result)


def test_truths_that_repeat_are_merged() -> None:
    problem = LabelAggregation(labels=SMALL, truth={"task": [1, 1, 2], "label": ["x", "x", "y"]})
    assert problem.truth_codes.tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": {"task": [1, 2, 1], "worker": list("aba"), "label": list("xyx")}}, "row 2.*again.*row 0"),
        ({"labels": {"task": [1, 2], "worker": ["a", "b"], "label": ["x", "x"]}}, "only one label value"),
        ({"labels": {"task": [1, 2], "worker": ["a", None], "label": ["x", "y"]}}, "row 1: worker is empty"),
        ({"labels": {"task": [1, 2], "worker": ["a", "b"], "lable": ["x", "x"]}}, "did you mean 'lable'"),
        ({"labels": {"task": [1, 2], "worker": [["a"], ["b"]], "label": ["x", "y"]}}, "hashable"),
        ({"labels": {"task": [], "worker": [], "label": []}}, "no rows"),
        ({"labels": 3}, "not a table"),
        ({"truth": {"task": [7, 8], "label": ["x", "y"]}}, "none of its 2 tasks occurs"),
        (
            {"truth": {"task": ["1", "2"], "label": ["x", "y"]}},
            "text, such as '1'; there they are whole numbers",
        ),
        ({"truth": {"task": [1, 2], "label": [0, 1]}}, "none of its labels was given.*whole numbers"),
        (
            {"truth": {"task": [1, 1], "label": ["x", "y"]}},
            "row 1: the truth of task 1 is y here and x in row 0",
        ),
        ({"truth": {"task": [1, 2]}}, "truth has no column 'label'"),
        ({"columns": {"taks": "item"}}, "unknown column 'taks'; did you mean 'task'"),
        ({"columns": {"task": 3}}, "must be text"),
        ({"columns": "item"}, "must be a table"),
        ({"tau": 0}, "tau: must be greater than 0"),
        ({"weights": "counts"}, "did you mean 'count'"),
        ({"tie_seed": -1}, "at least 0"),
        ({"label": SMALL}, "did you mean 'labels'"),
    ],
)
def test_wrong_inputs_are_refused_in_words(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LabelAggregation(**{"labels": SMALL, **changes})


def test_rows_that_repeat_a_pair_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("task,worker,label\n1,a,x\n2,a,y\n2,a,x\n1,a,x\n")
    with pytest.raises(InvalidInput, match=r"mine.csv line 4: worker a labels task 2 again.*line 4, line 5"):
        LabelAggregation(labels=path)


def test_a_start_must_be_an_answer_to_the_same_problem() -> None:
    problem = LabelAggregation(**single_coin(0, np.full(5, 0.6), tasks=30, per_task=3))
    other = LabelAggregation(**single_coin(1, np.full(6, 0.6), tasks=30, per_task=3))
    with pytest.raises(InvalidInput, match="other workers"):
        optiframe.solve(problem, "rankone.pgd", start=optiframe.solve(other, "rankone.pgd").solution)
    with pytest.raises(InvalidInput, match="is an Aggregation"):
        optiframe.solve(problem, "labels.one-coin-em", start=[1.0])
    with pytest.raises(Unsuited, match="cannot be carried over"):
        optiframe.solve(problem, "rankone.pgd", start=optiframe.solve(problem, "labels.majority").solution)


def test_a_problem_survives_pickling_with_the_same_content() -> None:
    problem = LabelAggregation(**single_coin(0, np.full(5, 0.6), tasks=30, per_task=3))
    optiframe.solve(problem, "rankone.pgd")
    copy = pickle.loads(pickle.dumps(problem))
    assert copy == problem
    assert set(copy.__dict__) <= set(LabelAggregation.model_fields) | {"_fingerprint"}
