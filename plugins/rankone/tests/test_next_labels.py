"""Which label to ask for next."""

from __future__ import annotations

import itertools

import numpy as np
import optiframe_rankone
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.tools.next_labels import expected_gain, suggest

import optiframe
from optiframe import InvalidInput

from .slow import coin, single_coin


def small(**more: object) -> LabelAggregation:
    skills = np.array([0.9, 0.6, 0.4, 0.3, -0.6])
    return coin(1, skills, tasks=30, per_task=3, **more)


def slow_gain(posterior: NDArray[np.float64], p: float, measure: str) -> float:
    """By Bayes' rule, one possible label at a time."""

    def worth(chances: NDArray[np.float64]) -> float:
        if measure == "error":
            return float(chances.max())
        return float(sum(c * np.log(c) for c in chances if c > 0))

    total, m = -worth(posterior), len(posterior)
    for said in range(m):
        joint = posterior * np.where(np.arange(m) == said, p, (1 - p) / (m - 1))
        if joint.sum() > 0:
            total += joint.sum() * worth(joint / joint.sum())
    return total


@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(0, 1), st.sampled_from(["error", "information"]))
def test_the_gain_is_that_of_bayes_rule_and_not_negative(
    seed: int, classes: int, p: float, measure: str
) -> None:
    posterior = np.random.default_rng(seed).dirichlet(np.ones(classes))
    gain = expected_gain(posterior[None], np.array([p]), measure)[0]  # type: ignore[arg-type]  # one of the two
    assert gain >= 0
    assert gain == pytest.approx(slow_gain(posterior, p, measure), abs=1e-12)


def test_the_gain_grows_with_the_distance_of_the_skill_from_guessing() -> None:
    posterior = np.full((1, 3), 1 / 3)
    for path in (np.linspace(1 / 3, 1, 9), np.linspace(1 / 3, 0, 9)):
        for measure in ("error", "information"):
            gains = [expected_gain(posterior, np.array([p]), measure)[0] for p in path]  # type: ignore[arg-type]
            assert gains[0] == pytest.approx(0, abs=1e-12)
            assert all(b > a for a, b in itertools.pairwise(gains))


@pytest.mark.parametrize("measure", ["error", "information"])
def test_suggestions_are_the_best_of_all_pairs_not_yet_labelled(measure: str) -> None:
    problem = small()
    solution = optiframe.solve(problem, "rankone.pgd").solution
    given_pairs = set(zip(problem.labels.task.tolist(), problem.labels.worker.tolist(), strict=True))
    best = {
        task: max(
            slow_gain(solution.probabilities[task], solution.accuracies[worker], measure)
            for worker in range(5)
            if (task, worker) not in given_pairs
        )
        for task in range(30)
    }
    frame = suggest(problem, solution, 8, measure=measure)  # type: ignore[arg-type]  # one of the two
    assert frame["gain"] == pytest.approx(sorted(best.values(), reverse=True)[:8], abs=1e-9)
    for task, worker, gain in zip(frame["task"], frame["worker"], frame["gain"], strict=True):
        assert (task, worker) not in given_pairs
        found = slow_gain(solution.probabilities[task], solution.accuracies[worker], measure)
        assert found == pytest.approx(gain, abs=1e-9)


def test_an_answer_comes_as_the_kind_of_frame_the_labels_came_in() -> None:
    inputs = single_coin(1, np.full(5, 0.6), tasks=20, per_task=3)
    problem = LabelAggregation(labels=pd.DataFrame(inputs["labels"]))
    frame = optiframe_rankone.suggest(problem, optiframe.solve(problem, "rankone.pgd").solution, 5)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["task", "worker", "gain", "confidence"]
    assert len(frame) == 5
    pd.testing.assert_frame_equal(
        optiframe_rankone.suggest(optiframe.solve(problem, "rankone.pgd"), n=5), frame
    )


def test_only_those_who_may_be_asked_are_suggested() -> None:
    problem = small()
    solution = optiframe.solve(problem, "rankone.pgd").solution
    frame = suggest(problem, solution, 30, workers=[2, 3])
    assert set(frame["worker"].tolist()) <= {2, 3}
    both = {t for t in range(30) if {2, 3} <= set(problem.labels.worker[problem.labels.task == t].tolist())}
    assert set(frame["task"].tolist()) == set(range(30)) - both
    average = suggest(problem, solution, 30, workers="average")
    assert average["worker"].tolist() == [None] * 30


def test_gold_is_not_asked_for() -> None:
    inputs = single_coin(1, np.full(5, 0.5), tasks=10, per_task=3)
    problem = LabelAggregation(**inputs, gold={"task": [0, 1, 2], "label": inputs["truth"]["label"][:3]})
    frame = suggest(problem, optiframe.solve(problem, "rankone.pgd").solution, 10)
    assert sorted(frame["task"].tolist()) == list(range(3, 10))


def test_equal_tasks_come_in_an_order_settled_by_the_seed() -> None:
    problem = small()
    guess = problem.weighted_vote(np.zeros(5))
    orders = [suggest(problem, guess, 30, seed=seed)["task"].tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"workers": "best"}, "must be 'all', 'average' or a list"),
        ({"workers": [0, 77]}, "77 labelled nothing"),
        ({"workers": []}, "workers is empty"),
        ({"measure": "entropy"}, "measure must be"),
    ],
)
def test_wrong_questions_are_refused_in_words(changes: dict[str, object], message: str) -> None:
    problem = small()
    solution = optiframe.solve(problem, "rankone.pgd").solution
    with pytest.raises(InvalidInput, match=message):
        suggest(problem, solution, **changes)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InvalidInput, match="no skills and posteriors"):
        suggest(problem, optiframe.solve(problem, "labels.majority").solution)
