"""Which side is right: what settles the signs of skills that are known up to sign only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe.solving.result import Result

ORIENTING: list[tuple[str, dict[str, Any]]] = [
    ("rankone.pgd", {}),
    ("rankone.pgd", {"signs": "recovered"}),
    ("rankone.coordinate", {}),
    ("rankone.exponentiated", {}),
    ("rankone.relaxation", {}),
    ("labels.ratio", {}),
    ("labels.ratio", {"form": "ratio-of-eigenvectors"}),
    ("scipy.lbfgs", {}),
]
NAMES = [" ".join([name, *map(str, more.values())]) for name, more in ORIENTING]


def labels(
    seed: int = 0,
    *,
    tasks: int = 300,
    good: int = 6,
    passing: int = 20,
    each: int = 15,
    classes: int = 2,
    accuracy: float = 0.3,
) -> dict[str, Any]:
    """Good workers (accuracy .85) on every task, and drive-by workers on a few tasks each."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    rows = []
    for worker in range(good + passing):
        mine = np.arange(tasks) if worker < good else rng.choice(tasks, each, replace=False)
        right = rng.random(len(mine)) < (0.85 if worker < good else accuracy)
        other = (truth[mine] + rng.integers(1, classes, len(mine))) % classes
        said = np.where(right, truth[mine], other)
        rows += [(t, worker, label) for t, label in zip(mine.tolist(), said.tolist(), strict=True)]
    task, worker, label = (list(column) for column in zip(*rows, strict=True))
    return {
        "labels": {"task": task, "worker": worker, "label": label},
        "truth": {"task": np.arange(tasks), "label": truth},
    }


def contested(result: Result[Any, Any]) -> list[Any]:
    return [finding for finding in result.findings if "depends on a convention" in finding.text]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "parameters"), ORIENTING, ids=NAMES)
def test_a_crowd_of_drive_by_workers_does_not_turn_the_answer_over(
    solver: str, parameters: dict[str, Any]
) -> None:
    problem = LabelAggregation(**labels())
    majority = optiframe.solve(problem, "labels.majority").metrics["error"]
    result = optiframe.solve(problem, solver, **parameters)
    assert result.metrics["error"] <= majority
    assert (result.solution.skills[:6] > 0.2).all()
    accused = [finding.about for finding in result.findings if "likely" in finding.text]
    assert not {0, 1, 2, 3, 4, 5} & {who for about in accused for who in about}


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "parameters"), ORIENTING, ids=NAMES)
def test_the_plain_sum_of_the_paper_is_an_option_and_both_warn(
    solver: str, parameters: dict[str, Any]
) -> None:
    inputs = labels()
    by_labels = optiframe.solve(LabelAggregation(**inputs), solver, **parameters)
    by_workers = optiframe.solve(LabelAggregation(**inputs, orientation="workers"), solver, **parameters)
    assert by_workers.solution.skills == pytest.approx(-by_labels.solution.skills, abs=1e-3)
    assert by_workers.metrics["error"] > 0.9
    (one,), (other,) = contested(by_labels), contested(by_workers)
    assert one.level == other.level == "warning"
    assert {0, 1, 2, 3, 4, 5} <= set(one.about)
    assert not {0, 1, 2, 3, 4, 5} & set(other.about)
    assert 'orientation = "workers"' in one.text
    assert 'orientation = "labels"' in other.text
    assert "`gold`" in one.text


def test_three_classes_are_oriented_by_labels_too() -> None:
    problem = LabelAggregation(**labels(classes=3, accuracy=0.05))
    for solver, more in (("rankone.pgd", {}), ("labels.ratio", {"multiclass": "correlations"})):
        assert optiframe.solve(problem, solver, **more).metrics["error"] < 0.1
        plain = problem.model_copy(update={"orientation": "workers"})
        assert optiframe.solve(plain, solver, **more).metrics["error"] > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("multiclass", ["thresholds", "one-vs-rest"])
def test_ratios_of_binary_problems_have_the_findings_on_signs_too(multiclass: str) -> None:
    inputs = labels(classes=3, accuracy=0.05)
    errors = {}
    for orientation in ("labels", "workers"):
        problem = LabelAggregation(**inputs, orientation=orientation)
        result = optiframe.solve(problem, "labels.ratio", multiclass=multiclass)
        errors[orientation] = result.metrics["error"]
        (warning,) = contested(result)
        assert warning.level == "warning"
        assert "splits of the classes" in warning.text
        good = {0, 1, 2, 3, 4, 5}
        assert (good <= set(warning.about)) is (orientation == "labels")
        assert any(finding.identifier == "labels.sign-by-convention" for finding in result.findings)
    assert errors["labels"] < 0.1
    assert errors["workers"] > 0.9


@pytest.mark.parametrize("multiclass", ["thresholds", "one-vs-rest"])
def test_gold_settles_the_signs_of_binary_problems(multiclass: str) -> None:
    inputs = labels(classes=3, accuracy=0.05)
    gold = {"task": list(range(9)), "label": inputs["truth"]["label"][:9]}
    problem = LabelAggregation(**inputs, gold=gold, orientation="workers")
    result = optiframe.solve(problem, "labels.ratio", multiclass=multiclass)
    assert result.metrics["error"] < 0.1
    assert not contested(result)


def test_gold_decides_before_any_count() -> None:
    inputs = labels()
    gold = {"task": [0, 1, 2], "label": inputs["truth"]["label"][:3]}
    for orientation in ("labels", "workers"):
        problem = LabelAggregation(**inputs, gold=gold, orientation=orientation)
        result = optiframe.solve(problem, "rankone.pgd")
        assert (result.solution.skills[:6] > 0.5).all()
        assert not contested(result)


def test_where_both_sums_agree_nothing_is_warned_of() -> None:
    assert not contested(optiframe.solve(LabelAggregation(**labels(passing=3)), "rankone.pgd"))


def test_each_component_is_oriented_on_its_own() -> None:
    first, second = labels(0, tasks=100, each=10)["labels"], labels(1, tasks=100, each=10)["labels"]
    both = {
        "task": first["task"] + [f"second {task}" for task in second["task"]],
        "worker": first["worker"] + [f"second {worker}" for worker in second["worker"]],
        "label": first["label"] + [1 - label for label in second["label"]],
    }
    problem = LabelAggregation(labels=both)
    assert problem.worker_graph.components == 2
    good = [list(range(6)), [f"second {worker}" for worker in range(6)]]
    for solver in ("rankone.pgd", "rankone.exponentiated", "labels.ratio"):
        solution = optiframe.solve(problem, solver).solution
        skill = dict(zip(solution.worker_ids.tolist(), solution.skills.tolist(), strict=True))
        assert all(skill[who] > 0.2 for group in good for who in group)


# A matrix to complete has no labels to count: its pairs count.


def matrix(**more: Any) -> RankOneCompletion:
    """Three entries of .8 with many pairs, and six of -.6 with few."""
    x = np.array([0.8] * 3 + [-0.6] * 6)
    weights = np.ones((9, 9))
    weights[:3, :3] = 50.0
    np.fill_diagonal(weights, 0.0)
    return RankOneCompletion(weights=weights, values=np.outer(x, x), lower=-1.0, upper=1.0, **more)


@pytest.mark.parametrize(
    ("solver", "parameters"),
    [("rankone.exponentiated", {}), ("rankone.pgd", {"signs": "recovered"}), ("rankone.relaxation", {})],
)
def test_without_label_counts_pairs_count(solver: str, parameters: dict[str, Any]) -> None:
    assert optiframe.solve(matrix(), solver, **parameters).solution[0] > 0
    assert optiframe.solve(matrix(sign_weights=1), solver, **parameters).solution[0] < 0
    given = matrix(sign_weights=[9.0] * 3 + [1.0] * 6)
    assert optiframe.solve(given, solver, **parameters).solution[0] > 0
