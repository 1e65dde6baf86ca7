"""Crowds that mislead: each structure is what it says, and most of its labels are right."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from optiframe_rankone.datasets.hostile import HostileCrowd, Structure

import optiframe

STRUCTURES = get_args(Structure)


def drawn(structure: str, **more: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels as a table, shape (workers, tasks), -1 where there is none, and the truth."""
    inputs = HostileCrowd(structure=structure, **more).inputs()
    labels, truth = inputs["labels"], inputs["truth"]["label"]
    said = np.full((len(inputs["skills"]["worker"]), len(truth)), -1)
    said[labels["worker"], labels["task"]] = labels["label"]
    return said, truth


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_most_labels_are_right_and_accuracies_are_those_of_the_skills(structure: str, classes: int) -> None:
    data = HostileCrowd(structure=structure, classes=classes, tasks=4000)
    said, truth = drawn(structure, classes=classes, tasks=4000)
    given = said >= 0
    assert (said == truth)[given].mean() > 0.5
    accuracy = ((said == truth) & given).sum(axis=1) / given.sum(axis=1)
    expected = (1 + (classes - 1) * data.inputs()["skills"]["skill"]) / classes
    assert (np.abs(accuracy - expected) < 5 * np.sqrt(0.25 / given.sum(axis=1))).all()
    assert set(np.unique(said[given])) == set(range(classes))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_the_same_seed_gives_the_same_labels_and_another_does_not(structure: str) -> None:
    first, again, other = (drawn(structure, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_drive_by_workers_label_fifteen_tasks_each_and_good_ones_all() -> None:
    said, _ = drawn("drive-by")
    assert (said >= 0).sum(axis=1).tolist() == [300] * 6 + [15] * 20


def test_clickers_give_one_label_to_three_fifths_of_the_tasks() -> None:
    said, _ = drawn("clickers", classes=4)
    assert set(said[20:][said[20:] >= 0]) == {0}
    assert (said[20:] >= 0).sum(axis=1).tolist() == [180] * 3


@pytest.mark.parametrize(("structure", "each"), [("copiers", 300), ("copiers-on-part", 150)])
def test_copiers_agree_wherever_they_meet(structure: str, each: int) -> None:
    copies = drawn(structure)[0][15:]
    assert (copies >= 0).sum(axis=1).tolist() == [each] * 3
    for one, other in ((0, 1), (0, 2), (1, 2)):
        both = (copies[one] >= 0) & (copies[other] >= 0)
        assert both.sum() >= 30
        assert np.array_equal(copies[one][both], copies[other][both])


def test_sparse_tasks_have_three_labels_of_a_hundred_workers() -> None:
    said, _ = drawn("sparse")
    assert len(said) == 100
    assert ((said >= 0).sum(axis=0) == 3).all()


def test_colluders_are_wrong_together_on_three_tenths_of_the_tasks() -> None:
    said, truth = drawn("colluders", classes=4)
    together = (said[15:] == said[15]).all(axis=0) & (said[15] != truth)
    assert 90 <= together.sum() < 105  # a few more by chance


def test_the_data_set_is_chosen_by_name() -> None:
    problem = optiframe.problem(dataset={"name": "synthetic.hostile-crowd", "structure": "adversaries"})
    answer = optiframe.solve(problem, "labels.oracle")
    assert answer.metrics["error"] < optiframe.solve(problem, "labels.majority").metrics["error"]


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("structure", ["drive-by", "clickers", "sparse", "guessers", "adversaries"])
def test_the_default_is_not_behind_the_majority_where_workers_err_independently(
    structure: str, classes: int
) -> None:
    ours, majority = [], []
    for seed in range(5):
        data = {"name": "synthetic.hostile-crowd", "structure": structure, "classes": classes, "seed": seed}
        problem = optiframe.problem(dataset=data)
        ours.append(optiframe.solve(problem, "labels.crowd").metrics["error"])
        majority.append(optiframe.solve(problem, "labels.majority").metrics["error"])
    assert np.mean(ours) <= np.mean(majority) + 0.01
    assert max(ours) < 0.3
