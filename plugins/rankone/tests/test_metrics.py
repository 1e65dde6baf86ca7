"""Regret, errors of skills, and the bound of Lemma 3."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.answer import Aggregation, accuracy
from optiframe_rankone.metrics import committee_potential, error_bounds
from optiframe_rankone.problem import LabelAggregation
from scipy.stats import binom

import optiframe
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

from .slow import said as finding
from .slow import single_coin


def with_skills(seed: int = 0, classes: int = 2) -> LabelAggregation:
    skills = np.array([0.8, 0.6, 0.7, 0.2, -0.1, 0.5])
    inputs = single_coin(seed, skills, tasks=80, per_task=4, classes=classes)
    return LabelAggregation(**inputs, skills={"worker": np.arange(6), "skill": skills})


@pytest.mark.parametrize("classes", [2, 3])
def test_metrics_against_true_skills_are_their_definitions(classes: int) -> None:
    problem = with_skills(classes=classes)
    result = optiframe.solve(problem, "rankone.pgd")
    truth = problem.truth_codes
    oracle = problem.weighted_vote(problem.true_skills)
    assert not oracle.tied.any()
    assert not result.solution.tied.any()
    wrong = (result.solution.predicted_codes() != truth).mean() - (oracle.predicted_codes() != truth).mean()
    assert result.metrics["regret"] == pytest.approx(wrong)
    gap = result.solution.skills - problem.true_skills
    assert result.metrics["skill_error_l2"] == pytest.approx(np.sqrt((gap**2).sum()))
    assert result.metrics["skill_error_max"] == pytest.approx(max(abs(gap)))
    assert result.metrics["lemma_3_bound"] == pytest.approx(error_bounds(problem, problem.true_skills).mean())


def test_a_method_without_skills_has_regret_and_no_skill_error() -> None:
    metrics = optiframe.solve(with_skills(), "labels.majority").metrics
    assert {"error", "regret", "lemma_3_bound"} <= set(metrics)
    assert "skill_error_l2" not in metrics


class LosesItsWay(Solver[LabelAggregation, Aggregation, None]):
    """Scores of the first tasks, or skills of the first workers, cease to be numbers in the second step."""

    name = "own.loses-its-way"
    solves = LabelAggregation
    monotone = True  # the last iterate is the answer
    residual_meaning = "none"
    lost: Literal["scores", "skills"]

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        answer = problem.weighted_vote(np.full(6, 0.5))
        yield Iterate(answer)
        values = np.array(getattr(answer, self.lost))
        values[:3] = np.nan
        yield Iterate(replace(answer, **{self.lost: values}))


def test_tasks_without_finite_scores_count_as_wrong_and_the_other_metrics_stay() -> None:
    problem = with_skills()
    good = problem.weighted_vote(np.full(6, 0.5))
    result = optiframe.solve(problem, LosesItsWay(lost="scores"))
    truth = problem.truth_codes
    wrong = (good.predicted_codes() != truth) | (np.arange(80) < 3)
    assert set(result.metrics) == set(optiframe.solve(problem, "rankone.pgd").metrics)
    assert result.metrics["error_resolved"] == pytest.approx(wrong.mean())
    assert np.isfinite(list(result.metrics.values())).all()
    assert finding(result, "tasks whose scores are not finite").about == (0, 1, 2)
    workers = result.to_tables()["workers"]
    assert np.isnan(workers["skill_low"]).all()
    assert np.isnan(workers["accuracy_high"]).all()
    assert not workers["intervals_valid"].any()


def test_skills_that_are_no_numbers_have_an_error_that_is_none_and_a_finding_that_says_why() -> None:
    result = optiframe.solve(with_skills(), LosesItsWay(lost="skills"))
    assert np.isnan([result.metrics["skill_error_l2"], result.metrics["skill_error_max"]]).all()
    assert np.isfinite(result.metrics["error"])
    assert finding(result, "workers whose skills are not finite").about == (0, 1, 2)
    assert np.isnan(result.to_tables()["workers"]["skill_low"]).all()


def test_skills_known_in_part_give_skill_errors_of_those_and_no_regret() -> None:
    problem = with_skills()
    known = {"worker": [0, 4], "skill": [0.8, -0.1]}
    partly = LabelAggregation(
        labels=single_coin(0, problem.true_skills, tasks=80, per_task=4)["labels"], skills=known
    )
    result = optiframe.solve(partly, "rankone.pgd")
    assert set(result.metrics) == {"skill_error_l2", "skill_error_max"}
    gap = result.solution.skills[[0, 4]] - [0.8, -0.1]
    assert result.metrics["skill_error_l2"] == pytest.approx(np.linalg.norm(gap))


def exact_error(skills: np.ndarray, classes: int) -> float:
    """Chance that the best vote errs on a task of all workers, by every vector of labels; ties guess."""
    p = accuracy(skills, classes)
    total = 0.0
    for said in itertools.product(range(classes), repeat=len(skills)):
        chances = [
            np.prod([p[i] if y == c else (1 - p[i]) / (classes - 1) for i, y in enumerate(said)])
            for c in range(classes)
        ]
        total += sum(chances) - max(chances)
    return total / classes


@given(st.lists(st.floats(-0.95, 0.95), min_size=1, max_size=6), st.integers(2, 3))
@settings(max_examples=25)
def test_the_bound_is_above_the_exact_error_of_the_best_vote(shares: list[float], classes: int) -> None:
    skills = np.array([s if s >= 0 else s / (classes - 1) for s in shares])
    workers = len(skills)
    # A second task by worker 0 alone makes every class occur.
    task, worker = [0] * workers + list(range(1, classes + 1)), list(range(workers)) + [0] * classes
    label = [0] * workers + list(range(classes))
    problem = LabelAggregation(labels={"task": task, "worker": worker, "label": label})
    assert error_bounds(problem, skills)[0] >= exact_error(skills, classes) - 1e-12


def test_the_bound_as_printed_in_lemma_3_would_not_hold() -> None:
    workers, skill = 101, 0.3
    labels = {
        "task": [0] * workers + [1],
        "worker": [*range(workers), 0],
        "label": [0] * workers + [1],
    }
    problem = LabelAggregation(labels=labels)
    exact = binom.cdf(workers // 2, workers, (1 + skill) / 2)
    potential = committee_potential(problem, np.full(workers, skill))[0]
    printed = workers * skill * np.log((1 + skill) / (1 - skill))
    assert potential == pytest.approx(printed / 2)
    assert np.exp(-printed / 2) < exact < np.exp(-potential / 2)


def test_perfect_and_guessing_committees_have_bounds_near_0_and_of_guessing() -> None:
    problem = with_skills(classes=3)
    assert error_bounds(problem, np.zeros(6)) == pytest.approx(np.full(80, 2 / 3))
    assert error_bounds(problem, np.ones(6)).max() < 1e-12
