"""Standard errors of skills: against the definition by loops, the bootstrap, and the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from optiframe_rankone import LabelAggregator, intervals
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.tools.bootstrap import bootstrap_errors
from optiframe_rankone.trust.intervals import skill_intervals, standard_errors

import optiframe
from optiframe import InvalidInput

from .slow import co_occurrence, coin, rows, single_coin

SKILLS = np.array([0.8, 0.6, 0.7, 0.2, -0.3, 0.5])


def slow_errors(problem: LabelAggregation, x: NDArray[np.float64], joint: bool) -> NDArray[np.float64]:
    """The sandwich, one pair of labels at a time."""
    shared, _ = co_occurrence(problem)
    weight = {"count": shared, "count-squared": shared**2, "binary": (shared > 0).astype(float)}
    weights, workers, m = weight[problem.weights], len(x), len(problem.classes)
    curvature = np.diag(weights @ x**2) + (weights * np.outer(x, x) if joint else 0.0)
    pulls = np.full((len(problem.labels.task_ids), workers), np.nan)
    rows = list(zip(problem.labels.task, problem.labels.worker, problem.label_codes, strict=True))
    for task, i, label in rows:
        pulls[task, i] = sum(
            weights[i, j] / shared[i, j] * ((1.0 if label == other else -1 / (m - 1)) - x[i] * x[j]) * x[j]
            for other_task, j, other in rows
            if other_task == task and j != i
        )
    counts = problem.labels_per_worker
    pulls = np.nan_to_num(pulls - np.nanmean(pulls, axis=0)) * np.sqrt(counts / (counts - 1))
    inverse = np.linalg.inv(curvature)
    errors = np.sqrt(np.diag(inverse @ pulls.T @ pulls @ inverse))
    p = (1 + (m - 1) * x) / m
    return np.maximum(errors, m / (m - 1) * np.sqrt(p * (1 - p) / counts))


@pytest.mark.parametrize("weights", ["count", "count-squared", "binary"])
@pytest.mark.parametrize("classes", [2, 3])
def test_errors_are_the_sandwich_by_loops(weights: str, classes: int) -> None:
    inputs = single_coin(3, SKILLS, tasks=30, per_task=4, classes=classes)
    problem = LabelAggregation(**inputs, weights=weights)
    solution = optiframe.solve(problem, "rankone.pgd").solution
    assert standard_errors(problem, solution) == pytest.approx(slow_errors(problem, solution.skills, True))


@pytest.mark.parametrize("weights", ["count", "count-squared"])
def test_beyond_300_workers_the_others_count_as_known(weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optiframe_rankone.trust.intervals._JOINT", 5)
    problem = coin(3, SKILLS, tasks=30, per_task=4, weights=weights)
    solution = optiframe.solve(problem, "rankone.pgd").solution
    assert standard_errors(problem, solution) == pytest.approx(slow_errors(problem, solution.skills, False))


@pytest.mark.slow
def test_nine_of_ten_intervals_hold_the_true_skill() -> None:
    held = []
    for seed in range(16):
        skills = np.random.default_rng(seed).uniform(0.1, 0.8, 12)
        inputs = single_coin(seed, skills, tasks=250, per_task=5, classes=2 + seed % 2)
        problem = LabelAggregation(**inputs)
        low, high = skill_intervals(problem, optiframe.solve(problem, "rankone.pgd").solution)
        held.append((low <= skills) & (skills <= high))
    assert 0.84 <= np.mean(held) <= 0.96


@pytest.mark.slow
def test_the_bootstrap_agrees_with_the_sandwich_where_labels_are_many() -> None:
    problem = coin(1, np.linspace(0.3, 0.8, 6), tasks=300, per_task=4)
    result = optiframe.solve(problem, "rankone.pgd")
    bootstrap, sandwich = bootstrap_errors(result, draws=40), standard_errors(result)
    assert bootstrap == pytest.approx(sandwich, rel=0.35)
    assert np.array_equal(bootstrap, bootstrap_errors(result, draws=40))


def test_the_bootstrap_takes_any_method_and_keeps_gold_and_classes() -> None:
    inputs = single_coin(1, np.full(5, 0.6), tasks=40, per_task=3, classes=3)
    gold = {"task": [0, 1], "label": inputs["truth"]["label"][:2]}
    problem = LabelAggregation(**inputs, gold=gold)
    errors = bootstrap_errors(problem, "labels.one-coin-em", draws=10)
    assert ((errors > 0) & (errors < 0.5)).all()
    with pytest.raises(InvalidInput, match=r"labels.majority gives no skills"):
        bootstrap_errors(problem, "labels.majority", draws=2)
    with pytest.raises(InvalidInput, match="at least 2"):
        bootstrap_errors(problem, "rankone.pgd", draws=1)


@pytest.mark.slow
def test_the_bootstrap_of_a_result_is_that_of_its_own_method_with_its_parameters() -> None:
    problem = coin(1, np.full(5, 0.6), tasks=40, per_task=3)
    result = optiframe.solve(problem, "labels.dawid-skene", prior="equal", trace=False)
    own = {"name": "labels.dawid-skene", "prior": "equal"}
    errors = bootstrap_errors(problem, own, draws=4)
    assert not np.allclose(errors, bootstrap_errors(problem, "rankone.pgd", draws=4))
    assert not np.array_equal(errors, bootstrap_errors(problem, "labels.dawid-skene", draws=4))
    assert np.array_equal(bootstrap_errors(result, draws=4), errors)
    for tables in (
        intervals(result, method="bootstrap", draws=4),
        intervals(problem, result, method="bootstrap", draws=4),
        intervals(problem, result.solution, method="bootstrap", solver=own, draws=4),
    ):
        assert np.array_equal(tables["error"], errors)
    for unknown in (
        lambda: bootstrap_errors(problem, draws=4),
        lambda: intervals(problem, result.solution, method="bootstrap", draws=4),
    ):
        with pytest.raises(
            InvalidInput, match=r"which solver gave the answer, such as solver = 'rankone\.pgd'"
        ):
            unknown()


def test_a_rare_worker_has_a_finite_bootstrap_error_only_when_seen_twice() -> None:
    inputs = single_coin(1, np.full(4, 0.7), tasks=30, per_task=3)
    labels = {name: column.tolist() for name, column in inputs["labels"].items()}
    labels["task"].append(0)
    labels["worker"].append(99)
    labels["label"].append(1)
    errors = bootstrap_errors(LabelAggregation(labels=labels), "rankone.pgd", draws=4)
    assert np.isfinite(errors[:4]).all()
    assert not np.isnan(errors).any()


@pytest.mark.slow
def test_the_bootstrap_says_nothing_of_who_meets_nobody_but_for_gold() -> None:
    labels = {name: list(column) for name, column in nothing_known().items()}
    gold = {"task": [f"s{t}" for t in range(4)], "label": [0, 1, 0, 0]}
    for solver in ("rankone.pgd", "labels.one-coin-em"):
        problem = LabelAggregation(labels=labels)
        alone = problem.labels.worker_ids == "alone"
        errors = bootstrap_errors(problem, solver, draws=6)
        assert np.isinf(errors[alone]).all()
        assert np.isfinite(errors[~alone & (problem.labels_per_worker > 1)]).all()
        known = bootstrap_errors(LabelAggregation(labels=labels, gold=gold), solver, draws=6)
        assert np.isfinite(known[alone]).all()


def nothing_known() -> dict[str, Any]:
    """Three who share tasks, two who meet only each other, one alone, one with a single label."""
    return rows(
        *((f"t{t}", f"w{w}", (t + (w == 2 and t % 3 == 0)) % 2) for t in range(12) for w in range(3)),
        *(
            (f"p{t}", who, (t + (who == "left" and t == 0)) % 2)
            for t in range(6)
            for who in ("left", "right")
        ),
        *((f"s{t}", "alone", t % 2) for t in range(4)),
        ("t0", "newcomer", 0),
    )


def test_where_the_labels_do_not_tell_the_error_is_infinite_and_the_interval_everything() -> None:
    problem = LabelAggregation(labels=nothing_known())
    solution = optiframe.solve(problem, "rankone.pgd").solution
    errors = dict(zip(problem.labels.worker_ids, standard_errors(problem, solution), strict=True))
    unknown = {worker for worker, error in errors.items() if np.isinf(error)}
    assert unknown == {"left", "right", "alone", "newcomer"}
    low, high = skill_intervals(problem, solution)
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    at = problem.labels.worker_ids.tolist().index("alone")
    assert (low[at], high[at]) == (-1.0, 1.0)


def test_workers_who_always_agree_are_not_known_exactly() -> None:
    labels = {"task": np.repeat(np.arange(8), 3), "worker": [0, 1, 2] * 8, "label": np.repeat([0, 1] * 4, 3)}
    problem = LabelAggregation(labels=labels)
    errors = standard_errors(problem, optiframe.solve(problem, "rankone.pgd").solution)
    assert (errors > 0.1).all()


def test_answers_without_skills_and_levels_outside_0_and_1_are_refused() -> None:
    problem = coin(0, SKILLS, tasks=20, per_task=3)
    with pytest.raises(InvalidInput, match="no skills"):
        standard_errors(problem, optiframe.solve(problem, "labels.majority").solution)
    with pytest.raises(InvalidInput, match="level must be between"):
        skill_intervals(problem, optiframe.solve(problem, "rankone.pgd").solution, level=90)


def test_intervals_are_a_table_of_a_result_of_an_estimator_or_of_an_answer() -> None:
    inputs = single_coin(0, SKILLS, tasks=40, per_task=3)
    result = optiframe.solve(LabelAggregation(labels=pd.DataFrame(inputs["labels"])), "rankone.pgd")
    table = intervals(result)
    assert list(table.columns) == ["worker", "skill", "error", "low", "high", "valid"]
    assert table["error"].to_numpy() == pytest.approx(standard_errors(result))
    assert np.array_equal(table[["low", "high"]].to_numpy().T, skill_intervals(result.problem, result))
    fitted = LabelAggregator("rankone.pgd").fit(pd.DataFrame(inputs["labels"]))
    for same in (intervals(result.problem, result.solution), intervals(fitted)):
        pd.testing.assert_frame_equal(same, table)
    drawn = intervals(result, level=0.5, method="bootstrap", draws=4)
    assert drawn["error"].to_numpy() == pytest.approx(bootstrap_errors(result, draws=4))
    with pytest.raises(
        InvalidInput, match="method must be 'sandwich', 'posterior' or 'bootstrap', got 'delta'"
    ):
        intervals(result, method="delta")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InvalidInput, match="give an answer as well"):
        intervals(result.problem)
    with pytest.raises(InvalidInput, match="or a fitted LabelAggregator, not a dict"):
        intervals(inputs)  # type: ignore[arg-type]  # wrong on purpose
