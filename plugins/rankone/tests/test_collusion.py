"""Workers who collude on some tasks: named where they do, and nobody where nobody does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe.findings import Finding

from .slow import rows

SHIPPED = ("rte", "temp", "dogs", "wsd", "web")


def named(problem: Any, solver: str = "labels.majority") -> list[Finding]:
    findings = optiframe.solve(problem, solver).findings
    return [each for each in findings if each.identifier == "labels.colluding-workers"]


def hostile(structure: str, classes: int = 2, seed: int = 0) -> Any:
    data = {"name": "synthetic.hostile-crowd", "structure": structure, "classes": classes, "seed": seed}
    return optiframe.problem(dataset=data)


def crowd(
    seed: int, *groups: tuple[int, int], share: float = 0.3, hard: float = 0.0, classes: int = 2
) -> LabelAggregation:
    """20 workers of .6 to .9, six labels a task; each group, from a code to below another, labels all.

    A group agrees on one wrong label for a share of them. On a `hard` share of the tasks, most of everybody's
    labels are one wrong label.
    """
    rng = np.random.default_rng(seed)
    accuracy, tasks = rng.uniform(0.6, 0.9, 20), 300
    truth = rng.integers(classes, size=tasks)
    given = []
    for task in range(tasks):
        wrong = (truth[task] + rng.integers(1, classes)) % classes
        misleads, everywhere = rng.random() < hard, {w for first, last in groups for w in range(first, last)}
        agreed = {w for first, last in groups if rng.random() < share for w in range(first, last)}
        for worker in sorted(everywhere | set(rng.choice(20, 6, replace=False).tolist())):
            right = rng.random() < (0.3 if misleads else accuracy[worker]) and worker not in agreed
            other = (truth[task] + rng.integers(1, classes)) % classes
            label = truth[task] if right else wrong if misleads or worker in agreed else other
            given.append((task, worker, label))
    return LabelAggregation(labels=rows(*given))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_colluders_are_named_with_how_often_they_agree(classes: int, seed: int) -> None:
    [finding] = named(hostile("colluders", classes, seed))
    assert finding.level == "warning"
    assert finding.about == (15, 16, 17)
    assert "15, 16, 17 (on " in finding.text
    assert finding.text.startswith("3 workers may collude")


def test_they_are_named_whatever_the_method() -> None:
    about = [named(hostile("colluders"), solver)[0].about for solver in ("labels.crowd", "rankone.pgd")]
    assert about == [(15, 16, 17)] * 2


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "structure", ["drive-by", "clickers", "sparse", "guessers", "adversaries", "copiers", "copiers-on-part"]
)
def test_nobody_is_named_in_other_structures_and_copies_only_as_copies(structure: str, classes: int) -> None:
    assert [named(hostile(structure, classes, seed)) for seed in range(3)] == [[], [], []]


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", SHIPPED)
def test_nobody_is_named_on_shipped_sets(name: str) -> None:
    assert named(optiframe.problem(dataset=f"labels.{name}")) == []


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("hard", [0.0, 0.2])
def test_tasks_that_mislead_everybody_are_no_collusion(hard: float, classes: int) -> None:
    assert [named(crowd(seed, hard=hard, classes=classes)) for seed in range(5)] == [[]] * 5


def test_two_groups_are_two_groups() -> None:
    [finding] = named(crowd(1, (0, 3), (3, 5), share=0.5, classes=4))
    assert sorted(finding.about) == [0, 1, 2, 3, 4]
    assert "0, 1, 2 (" in finding.text
    assert "3, 4 (" in finding.text


def test_a_third_of_a_crowd_that_colludes_is_named() -> None:
    [finding] = named(crowd(2, (0, 6), share=0.5, classes=4))
    assert finding.about == (0, 1, 2, 3, 4, 5)


def test_few_shared_tasks_name_nobody() -> None:
    problem = hostile("colluders")
    labels = problem.labels
    kept = (labels.worker < 15) | (labels.task < 29)
    codes = labels.task[kept], labels.worker[kept], labels.label[kept]
    assert named(LabelAggregation(labels=rows(*zip(*(each.tolist() for each in codes), strict=True)))) == []


def test_crowds_that_share_nothing_or_never_agree_name_nobody() -> None:
    alone = rows(*((task, task % 7, task % 2) for task in range(300)))
    apart = rows(*((task, worker, (task + worker) % 2) for task in range(60) for worker in range(2)))
    for labels in (alone, apart):
        assert named(LabelAggregation(labels=labels)) == []
