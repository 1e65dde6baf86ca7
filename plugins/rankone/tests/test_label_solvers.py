"""The solvers on synthetic and real labels."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from optiframe_rankone.baselines.dawid_skene import DawidSkene
from optiframe_rankone.baselines.one_coin import OneCoinEM
from optiframe_rankone.problem import LabelAggregation

import optiframe

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


@pytest.mark.parametrize("em", [OneCoinEM(steps=10_000), DawidSkene(steps=10_000)])
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
