"""No method turns the answer over where most labels are right without a warning."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest
from optiframe_rankone.datasets.hostile import Structure
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe.registry.registry import build

from .slow import quietly

WARNINGS = {
    "labels.copied-labels",
    "labels.one-label-only",
    "labels.one-skill-does-not-fit",
    "labels.contested-sign",
    "labels.far-from-majority",
}
METHODS: dict[str, dict[str, Any]] = {
    "labels.majority": {"name": "labels.majority"},
    "labels.crowd": {"name": "labels.crowd"},
    "labels.dawid-skene": {"name": "labels.dawid-skene"},
    "labels.opt-ds": {"name": "labels.opt-ds"},
    "labels.one-coin-em": {"name": "labels.one-coin-em"},
    "labels.iwmv": {"name": "labels.iwmv"},
    "labels.glad": {"name": "labels.glad"},
    "labels.m3v": {"name": "labels.m3v", "c": 0.01},
    "rankone.pgd": {"name": "rankone.pgd"},
    "rankone.pgd, signs recovered": {"name": "rankone.pgd", "signs": "recovered"},
    "rankone.coordinate": {"name": "rankone.coordinate"},
    "rankone.exponentiated": {"name": "rankone.exponentiated"},
    "labels.ratio": {"name": "labels.ratio"},
    "labels.ratio, of eigenvectors": {"name": "labels.ratio", "form": "ratio-of-eigenvectors"},
    "labels.kos": {"name": "labels.kos"},
    "labels.kos, singular vector": {"name": "labels.kos", "form": "singular-vector"},
}
WITHSTAND = {
    "labels.majority",
    "labels.crowd",
    "labels.dawid-skene",
    "labels.opt-ds",
    "labels.iwmv",
    "labels.ratio",
}


QUICK = {"labels.majority", "labels.crowd", "rankone.pgd"}


@cache
def hostile(structure: str, classes: int, seed: int) -> Any:
    data = {"name": "synthetic.hostile-crowd", "structure": structure, "classes": classes, "seed": seed}
    return optiframe.problem(dataset=data)


@pytest.mark.parametrize(("classes", "seeds"), [(2, (0, 1)), (4, (1,))])
@pytest.mark.parametrize(
    "method",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in METHODS],
)
def test_an_answer_that_is_turned_over_comes_with_a_warning(
    method: str, classes: int, seeds: tuple[int, ...]
) -> None:
    solver = build("solver", METHODS[method])
    for structure in get_args(Structure):
        for seed in seeds:
            result = quietly(hostile(structure, classes, seed), solver)
            if result.metrics["error"] > 0.5:
                assert warned(result) & WARNINGS, (structure, seed)
                assert method not in WITHSTAND or structure.startswith("copiers")


def warned(result: optiframe.Result[Any, Any]) -> set[str]:
    return {each.identifier for each in result.findings if each.level == "warning"}


def test_one_skill_for_each_worker_does_turn_answers_over_where_some_click() -> None:
    data = {"name": "synthetic.hostile-crowd", "structure": "clickers"}
    result = quietly(optiframe.problem(dataset=data), "rankone.pgd")
    assert result.metrics["error"] > 0.5
    assert {"labels.one-label-only", "labels.one-skill-does-not-fit"} <= warned(result)


@pytest.mark.parametrize("classes", [2, 4])
def test_an_answer_far_from_the_majority_is_called_so(classes: int) -> None:
    data = {"name": "synthetic.hostile-crowd", "structure": "sparse", "classes": classes}
    problem = optiframe.problem(dataset=data)
    assert isinstance(problem, LabelAggregation)
    turned = problem.vote(-np.ones(len(problem.labels.worker_ids)), "log-odds")
    [finding] = [each for each in problem.diagnose(turned) if each.identifier == "labels.far-from-majority"]
    assert finding.level == "warning"
    assert "labels.crowd" not in finding.text  # it may be whose answer this is
    assert re.search(r"on (9\d|100)% of the tasks", finding.text)


def test_adversaries_alone_do_not_put_an_answer_far_from_the_majority() -> None:
    for seed in range(5):
        data = {"name": "synthetic.hostile-crowd", "structure": "adversaries", "seed": seed}
        assert "labels.far-from-majority" not in warned(
            quietly(optiframe.problem(dataset=data), "rankone.pgd")
        )


def test_gold_is_no_contradiction_of_the_majority() -> None:
    rng = np.random.default_rng(0)
    said = rng.integers(2, size=(5, 60))
    task, worker = np.nonzero(said.T >= 0)
    majority = (said.sum(axis=0) > 2).astype(int)
    problem = LabelAggregation(
        labels={"task": task, "worker": worker, "label": said[worker, task]},
        gold={"task": np.arange(30), "label": 1 - majority[:30]},
    )
    assert "labels.far-from-majority" not in warned(quietly(problem, "labels.majority"))


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("solver", ["labels.crowd", "labels.dawid-skene", "rankone.pgd", "labels.iwmv"])
@pytest.mark.parametrize("name", ["rte", "temp", "dogs", "wsd", "web"])
def test_answers_to_shipped_sets_are_near_the_majority(name: str, solver: str) -> None:
    result = quietly(optiframe.problem(dataset=f"labels.{name}"), solver)
    assert "labels.far-from-majority" not in warned(result)
