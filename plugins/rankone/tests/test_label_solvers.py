"""The solvers on synthetic and real labels."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from optiframe_rankone.baselines.one_coin import OneCoinEM
from optiframe_rankone.problem import LabelAggregation

import optiframe

from .slow import single_coin

SETS = ("rte", "temp", "dogs", "wsd", "web")


def crowd(folder: Path, name: str) -> LabelAggregation:
    here = folder / "crowd" / name
    return LabelAggregation(labels=here / "labels.csv", truth=here / "truth.csv")


@pytest.mark.parametrize(
    ("name", "error"), list(zip(SETS, (0.1031, 0.0639, 0.1778, 0.0056, 0.2693), strict=True)), ids=SETS
)
def test_majority_vote_has_the_known_errors(data_folder: Path, name: str, error: float) -> None:
    result = optiframe.solve(crowd(data_folder, name), "labels.majority")
    assert result.metrics["error"] == pytest.approx(error, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "error"), list(zip(SETS, (0.0725, 0.0628, 0.1673, 0.0056, 0.1715), strict=True)), ids=SETS
)
def test_descent_converges_to_the_same_answer_as_the_general_solver(
    data_folder: Path, name: str, error: float
) -> None:
    # Errors are those of the converged answer, as found by both; see the next test for the rest.
    problem = crowd(data_folder, name)
    mine = optiframe.solve(problem, "rankone.pgd")
    theirs = optiframe.solve(problem, "scipy.lbfgs")
    assert mine.status == "converged"
    assert mine.objective == pytest.approx(theirs.objective, rel=1e-5)
    assert mine.solved == theirs.solved
    assert mine.solution.skills == pytest.approx(theirs.solution.skills, abs=1e-2)
    assert mine.metrics["error"] == pytest.approx(error, abs=5e-5)


def test_a_fixed_step_reaches_the_same_answer_slowly(data_folder: Path) -> None:
    problem = crowd(data_folder, "rte")
    scaled = optiframe.solve(problem, "rankone.pgd")
    busiest = problem.formulation.problem.weights.sum(axis=1).max()  # type: ignore[union-attr]
    fixed = optiframe.solve(problem, "rankone.pgd", step=1 / busiest)
    assert fixed.objective == pytest.approx(scaled.objective, rel=1e-9)
    assert fixed.solution.skills == pytest.approx(scaled.solution.skills, abs=1e-3)
    assert fixed.iterations > 20 * scaled.iterations


@pytest.mark.parametrize("classes", [2, 4])
def test_skills_are_estimated_and_the_vote_beats_the_majority(classes: int) -> None:
    rng = np.random.default_rng(5)
    skills = np.concatenate([rng.uniform(0.7, 0.9, 4), rng.uniform(0.0, 0.2, 8)])
    problem = LabelAggregation(**single_coin(5, skills, tasks=600, per_task=6, classes=classes))
    plain = optiframe.solve(problem, "labels.majority").metrics["error"]
    for solver in ("rankone.pgd", "labels.one-coin-em"):
        result = optiframe.solve(problem, solver)
        assert result.solution.skills == pytest.approx(skills, abs=0.15)
        assert result.metrics["error"] < 0.8 * plain


def test_likelihood_of_em_never_falls_and_equals_the_definition() -> None:
    rng = np.random.default_rng(7)
    skills = rng.uniform(0, 0.9, 8)
    problem = LabelAggregation(**single_coin(7, skills, tasks=40, per_task=3, classes=3))
    result = optiframe.solve(problem, "labels.one-coin-em")
    likelihood = result.trace["log_likelihood"]
    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(likelihood))
    p, total = result.solution.accuracies, 0.0
    labels = problem.labels
    for task in range(40):
        mine = np.flatnonzero(labels.task == task)
        chances = [
            np.prod(
                np.where(
                    problem.label_codes[mine] == c, p[labels.worker[mine]], (1 - p[labels.worker[mine]]) / 2
                )
            )
            for c in range(3)
        ]
        total += np.log(np.mean(chances))
    assert likelihood[-1] == pytest.approx(total)


def test_em_continues_from_a_start() -> None:
    problem = LabelAggregation(**single_coin(3, np.full(6, 0.5), tasks=50, per_task=4))
    whole = optiframe.solve(problem, OneCoinEM(steps=10_000), budget={"tolerance": 1e-10})
    again = optiframe.solve(problem, OneCoinEM(), start=whole.solution)
    assert again.iterations < whole.iterations
    assert again.solution.skills == pytest.approx(whole.solution.skills, abs=1e-6)


def test_descent_continues_from_the_answer_of_another_method() -> None:
    problem = LabelAggregation(**single_coin(3, np.full(6, 0.5), tasks=50, per_task=4))
    first = optiframe.solve(problem, "labels.one-coin-em").solution
    warm = optiframe.solve(problem, "rankone.pgd", start=first)
    cold = optiframe.solve(problem, "rankone.pgd")
    assert warm.solution.skills == pytest.approx(cold.solution.skills, abs=1e-4)


def test_skewed_activity_converges() -> None:
    # A few workers label nearly everything: the case in which one step for all is hopeless.
    rng = np.random.default_rng(11)
    workers, tasks = 60, 400
    activity = 1.0 / np.arange(1, workers + 1) ** 1.3
    skills = rng.uniform(0.1, 0.8, workers)
    truth = rng.integers(2, size=tasks)
    rows = []
    for task in range(tasks):
        for worker in rng.choice(workers, 4, replace=False, p=activity / activity.sum()):
            right = rng.random() < (1 + skills[worker]) / 2
            rows.append((task, worker, truth[task] if right else 1 - truth[task]))
    task, worker, label = np.array(rows).T
    problem = LabelAggregation(labels={"task": task, "worker": worker, "label": label})
    assert optiframe.solve(problem, "rankone.pgd", budget={"iterations": 500}).status == "converged"
