"""The solvers on synthetic and real labels; EM takes a given number of steps."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optiframe_rankone import LabelAggregator
from optiframe_rankone.baselines.dawid_skene import DawidSkene
from optiframe_rankone.baselines.one_coin import OneCoinEM
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import NotConverged

from .slow import coin, single_coin

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


@pytest.mark.slow
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


@pytest.mark.parametrize("classes", [2, 4])
def test_skills_are_estimated_and_the_vote_beats_the_majority(classes: int) -> None:
    rng = np.random.default_rng(5)
    skills = np.concatenate([rng.uniform(0.7, 0.9, 4), rng.uniform(0.0, 0.2, 8)])
    problem = coin(5, skills, tasks=600, per_task=6, classes=classes)
    plain = optiframe.solve(problem, "labels.majority").metrics["error"]
    for solver in ("rankone.pgd", "labels.one-coin-em"):
        result = optiframe.solve(problem, solver)
        assert result.solution.skills == pytest.approx(skills, abs=0.15)
        assert result.metrics["error"] < 0.8 * plain


@pytest.mark.parametrize("known", [0, 3])
def test_likelihood_of_em_never_falls_and_is_that_of_the_labels_and_the_gold(known: int) -> None:
    inputs = single_coin(7, np.linspace(0, 0.9, 6), tasks=20, per_task=3, classes=3)
    gold = {"task": list(range(known)), "label": inputs["truth"]["label"][:known]} if known else None
    problem = LabelAggregation(**inputs, gold=gold)
    result = optiframe.solve(problem, "labels.one-coin-em")
    likelihood = result.trace["log_likelihood"]
    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(likelihood))
    p, total = result.solution.accuracies, 0.0
    for task in range(20):
        mine = problem.labels.task == task
        said, who = problem.label_codes[mine], problem.labels.worker[mine]
        chances = [np.prod(np.where(said == c, p[who], (1 - p[who]) / 2)) / 3 for c in range(3)]
        total += np.log(chances[problem.gold_codes[task]] if task < known else sum(chances))
    assert likelihood[-1] == pytest.approx(total)


@pytest.mark.parametrize("em", [OneCoinEM(steps=10_000), DawidSkene(steps=10_000, gain=0.0)])
def test_em_continues_from_a_start(em: optiframe.Solver) -> None:
    problem = coin(3, np.full(6, 0.5), tasks=50, per_task=4)
    whole = optiframe.solve(problem, em, budget={"tolerance": 1e-10})
    again = optiframe.solve(problem, em, start=whole.solution)
    assert again.iterations < whole.iterations
    assert again.solution.probabilities == pytest.approx(whole.solution.probabilities, abs=1e-6)


def test_descent_continues_from_the_answer_of_another_method() -> None:
    problem = coin(3, np.full(6, 0.5), tasks=50, per_task=4)
    first = optiframe.solve(problem, "labels.one-coin-em").solution
    warm = optiframe.solve(problem, "rankone.pgd", start=first)
    cold = optiframe.solve(problem, "rankone.pgd")
    assert warm.solution.skills == pytest.approx(cold.solution.skills, abs=1e-4)


# Of these Dawid-Skene ends where the likelihood hardly rises, unless told otherwise.
EM = {"labels.dawid-skene": {"gain": 0.0}, "labels.one-coin-em": {}, "labels.opt-ds": {}}


def slow_for_em() -> LabelAggregation:
    """Few labels of many workers: EM creeps."""
    skills = np.random.default_rng(0).uniform(0.0, 0.6, 40)
    return coin(0, skills, tasks=150, per_task=4)


def run(solver: str, budget: dict[str, Any] | None = None, **more: Any) -> Any:
    more = {**EM[solver], **more}
    return optiframe.solve(slow_for_em(), solver, budget={"tolerance": 0.0, **(budget or {})}, **more)


@pytest.mark.slow
@pytest.mark.parametrize("solver", EM)
def test_em_is_finished_after_100_steps_without_a_warning(solver: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotConverged)
        result = run(solver)
    assert (result.status, result.iterations) == ("finished", 100)
    assert result.message == "took its 100 EM steps (the parameter `steps`)"
    assert run(solver, steps=7).iterations == 7


@pytest.mark.parametrize("solver", EM)
def test_a_smaller_budget_is_a_limit_as_ever(solver: str) -> None:
    with pytest.warns(NotConverged):
        result = run(solver, {"iterations": 20})
    assert (result.status, result.iterations) == ("iteration_limit", 20)


@pytest.mark.parametrize("solver", EM)
def test_em_that_comes_to_rest_sooner_has_converged(solver: str) -> None:
    easy = coin(1, np.full(6, 0.8), tasks=100, per_task=5)
    result = optiframe.solve(easy, solver, **EM[solver])
    assert result.status == "converged"
    assert result.iterations < 100


def test_dawid_skene_ends_where_its_likelihood_hardly_rises() -> None:
    problem = slow_for_em()
    result = optiframe.solve(problem, "labels.dawid-skene", gain=1e-3)
    assert result.status == "finished"
    assert "less than 0.001 a label (the parameter `gain`)" in result.message
    last = range(result.iterations - 2, result.iterations + 1)
    traces = [run("labels.dawid-skene", steps=steps).trace["log_likelihood"] for steps in last]
    before, after = np.diff([trace[-1] for trace in traces]) / len(problem.labels)
    assert after < 1e-3 <= before


def test_the_recommended_solver_is_the_default_of_the_estimator() -> None:
    problem = slow_for_em()
    labels = single_coin(0, np.random.default_rng(0).uniform(0.0, 0.6, 40), tasks=150, per_task=4)["labels"]
    model = LabelAggregator().fit(labels)
    expected = optiframe.solve(problem, "labels.crowd").solution.probabilities
    assert model.result_.solution.probabilities == pytest.approx(expected)
