"""Classes with subtypes: the bound, its steps beside loops, gold, seeds, and errors made together."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from optiframe_rankone.baselines.confusion import one_hot
from optiframe_rankone.baselines.ebcc import EnhancedBayes, _Model
from optiframe_rankone.problem import LabelAggregation
from scipy.special import digamma

import optiframe
from optiframe import Result

from .slow import coin, single_coin


def solved(problem: LabelAggregation, seed: int = 0, **parameters: Any) -> Result[Any, Any]:
    return optiframe.solve(problem, EnhancedBayes(**parameters), seed=seed, progress=False)


def usual(classes: int = 3) -> LabelAggregation:
    return coin(2, np.array([0.8, 0.6, 0.7, 0.3, 0.1]), tasks=60, per_task=4, classes=classes)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_bound_never_falls(classes: int) -> None:
    bounds = np.array(solved(usual(classes), starts=1, subtypes=4).trace["bound"])
    assert len(bounds) > 3
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])).all()


def test_a_step_is_its_definition() -> None:
    problem, (classes, subtypes) = usual(), (3, 2)
    labels, rng = problem.labels, np.random.default_rng(0)
    tasks, workers = len(labels.task_ids), len(labels.worker_ids)
    posterior = rng.dirichlet(np.ones(classes * subtypes), tasks).reshape(tasks, classes, subtypes)
    given = one_hot(problem)
    model = _Model.of(given, posterior)
    counts = np.zeros((workers, classes, classes, subtypes))
    for task, worker, label in zip(labels.task, labels.worker, problem.label_codes, strict=True):
        counts[worker, label] += posterior[task]
    for label, k in itertools.product(range(classes), repeat=2):
        counts[:, label, k] += 4.0 if label == k else 1.0
    assert model.labels == pytest.approx(counts)
    assert model.classes == pytest.approx(1.0 + posterior.sum(axis=(0, 2)))
    assert model.subtypes == pytest.approx(0.05 + posterior.sum(axis=0))
    scores = np.zeros((tasks, classes, subtypes))
    for k, m in itertools.product(range(classes), range(subtypes)):
        scores[:, k, m] += digamma(model.classes[k]) - digamma(model.classes.sum())
        scores[:, k, m] += digamma(model.subtypes[k, m]) - digamma(model.subtypes[k].sum())
        for task, worker, label in zip(labels.task, labels.worker, problem.label_codes, strict=True):
            scores[task, k, m] += digamma(counts[worker, label, k, m]) - digamma(
                counts[worker, :, k, m].sum()
            )
    assert model.scores(given) == pytest.approx(scores)


@pytest.mark.slow
def test_of_several_starts_the_one_with_the_highest_bound_counts() -> None:
    problem = usual()
    result = solved(problem, seed=5, starts=4)
    assert result.trace["bound"][-1] == max(result.trace["bound"])
    assert result.status == "finished"
    assert result.solution.confusion.sum(axis=2) == pytest.approx(np.ones((5, 3)))
    again = solved(problem, seed=5, starts=4)
    assert (again.solution.scores == result.solution.scores).all()


@pytest.mark.slow
def test_gold_is_certain_and_teaches() -> None:
    inputs = single_coin(4, np.array([0.9, -0.2, -0.3, 0.0]), tasks=80, per_task=4)
    gold = {"task": np.arange(40), "label": inputs["truth"]["label"][:40]}
    plain, taught = (solved(LabelAggregation(**inputs, **more)) for more in ({}, {"gold": gold}))
    assert (taught.solution.predicted()[:40] == gold["label"]).all()
    rest = slice(40, None)
    truth = inputs["truth"]["label"][rest]
    errors = [np.mean(each.solution.predicted()[rest] != truth) for each in (plain, taught)]
    assert errors[1] < errors[0]


@pytest.mark.slow
def test_copiers_have_less_weight_than_in_the_model_without_subtypes() -> None:
    data = {"name": "synthetic.hostile-crowd", "structure": "copiers", "classes": 4}
    problem = optiframe.problem(dataset=data)
    assert isinstance(problem, LabelAggregation)
    apart = optiframe.solve(problem, "labels.dawid-skene", progress=False).metrics["error"]
    assert solved(problem).metrics["error"] < 0.75 * apart
