"""EM takes a given number of steps, and is then done."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from optiframe_rankone import LabelAggregator
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import NotConverged

from .slow import coin, single_coin

EM = ("labels.dawid-skene", "labels.one-coin-em", "labels.opt-ds")


def slow_for_em() -> LabelAggregation:
    """Few labels of many workers: EM creeps."""
    skills = np.random.default_rng(0).uniform(0.0, 0.6, 40)
    return coin(0, skills, tasks=150, per_task=4)


def run(solver: str, budget: dict[str, Any] | None = None, **more: Any) -> Any:
    return optiframe.solve(slow_for_em(), solver, budget={"tolerance": 0.0, **(budget or {})}, **more)


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
    result = optiframe.solve(easy, solver)
    assert result.status == "converged"
    assert result.iterations < 100


def test_dawid_skene_is_the_default_of_the_estimator() -> None:
    problem = slow_for_em()
    labels = single_coin(0, np.random.default_rng(0).uniform(0.0, 0.6, 40), tasks=150, per_task=4)["labels"]
    model = LabelAggregator().fit(labels)
    expected = optiframe.solve(problem, "labels.dawid-skene").solution.probabilities
    assert model.result_.solution.probabilities == pytest.approx(expected)
