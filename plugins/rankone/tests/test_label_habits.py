"""Workers who copy, click or measure, and groups that hang on one label: named where true, else not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.estimator import LabelAggregator
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust.bridges import bridges
from scipy.sparse.csgraph import connected_components

import optiframe
from optiframe import InvalidInput
from optiframe.findings import Finding

from .slow import coin, rows

SHIPPED = ("rte", "temp", "dogs", "wsd", "web")


def hostile(structure: str, **more: Any) -> LabelAggregation:
    data = {"name": "synthetic.hostile-crowd", "structure": structure}
    for key in ("classes", "seed", "tasks"):
        if key in more:
            data[key] = more.pop(key)
    problem = optiframe.problem(dataset=data, **more)
    assert isinstance(problem, LabelAggregation)
    return problem


def found(problem: LabelAggregation, identifier: str, solver: str = "labels.majority") -> list[Finding]:
    findings = optiframe.solve(problem, solver).findings
    return [each for each in findings if each.identifier == f"labels.{identifier}"]


def labels_of(said: np.ndarray) -> LabelAggregation:
    """The problem of a table of labels, shape (workers, tasks), -1 where there is none."""
    task, worker = np.nonzero(said.T >= 0)
    return LabelAggregation(labels={"task": task, "worker": worker, "label": said[worker, task]})


def crowd_and(
    accuracies: list[float], tasks: int = 600
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Truth of two classes, and labels of all tasks by workers of these accuracies."""
    rng = np.random.default_rng(5)
    truth = rng.integers(2, size=tasks)
    right = rng.random((len(accuracies), tasks)) < np.array(accuracies)[:, None]
    return truth, np.where(right, truth, 1 - truth), rng


# Copies


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("structure", ["copiers", "copiers-on-part"])
def test_copiers_are_named(structure: str, classes: int) -> None:
    [finding] = found(hostile(structure, classes=classes), "copied-labels")
    assert finding.level == "warning"
    assert finding.about == (15, 16, 17)
    assert 'copies = "share"' in finding.text


@pytest.mark.parametrize(
    "structure", ["drive-by", "clickers", "sparse", "guessers", "adversaries", "colluders"]
)
def test_nobody_is_called_a_copier_where_nobody_copies(structure: str) -> None:
    assert [found(hostile(structure, classes=m), "copied-labels") for m in (2, 4)] == [[], []]


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", SHIPPED)
def test_nobody_is_called_a_copier_on_shipped_sets(name: str) -> None:
    problem = optiframe.problem(dataset=f"labels.{name}")
    assert isinstance(problem, LabelAggregation)
    assert found(problem, "copied-labels") == []


def test_workers_who_agree_because_they_are_good_are_no_copiers() -> None:
    _, said, _ = crowd_and([0.75] * 15 + [0.995, 0.995])
    assert (said[15] == said[16]).mean() >= 0.98
    assert found(labels_of(said), "copied-labels") == []


def test_copies_of_a_good_worker_with_a_few_slips_are_named() -> None:
    _, said, rng = crowd_and([0.75] * 15 + [0.85, 0.85])
    slips = rng.permutation(600)[:6]
    said[16] = said[15]
    said[16, slips] = 1 - said[16, slips]
    [finding] = found(labels_of(said), "copied-labels")
    assert finding.about == (15, 16)


def test_fewer_than_thirty_shared_tasks_name_nobody() -> None:
    _, said, _ = crowd_and([0.75] * 15 + [0.5])
    said = np.vstack([said, said[15]])
    said[16, 29:] = -1
    assert found(labels_of(said), "copied-labels") == []


def test_two_groups_of_copiers_are_two_groups() -> None:
    _, said, _ = crowd_and([0.75] * 15 + [0.5, 0.6])
    problem = labels_of(np.vstack([said, said[15], said[16]]))
    [finding] = found(problem, "copied-labels")
    assert finding.text.endswith("15, 17; 16, 18")


@pytest.mark.parametrize("solver", ["labels.majority", "labels.dawid-skene", "rankone.pgd"])
def test_one_vote_for_a_group_of_copiers_gives_back_what_they_cost(solver: str) -> None:
    kept, shared = (
        optiframe.solve(hostile("copiers", copies=copies), solver).metrics["error"]
        for copies in ("keep", "share")
    )
    assert kept > 0.25
    assert shared < 0.17


def test_a_group_is_one_worker_with_the_label_that_most_of_it_gave() -> None:
    said = [[0, 0, 1], [0, 0, 1], [0, 1, -1], [-1, -1, 1]]
    _, rest, _ = crowd_and([0.75] * 15)
    copies = np.vstack([rest[0]] * 4)
    source = np.random.default_rng(0).integers(2, size=600)
    copies[:] = source
    copies[:, :3] = said
    problem = labels_of(np.vstack([rest, copies]))
    shared = LabelAggregation(
        labels={
            "task": problem.labels.task,
            "worker": problem.labels.worker,
            "label": problem.labels.label,
        },
        copies="share",
    )
    labels = shared.labels
    assert labels.worker_ids.tolist() == list(range(16))
    assert labels.per_worker[15] == 600
    assert labels.label[labels.worker == 15][:3].tolist() == [0, 0, 1]
    assert np.array_equal(labels.label[labels.worker == 15][3:], source[3:])
    others = problem.labels.worker < 15
    assert np.array_equal(labels.label[labels.worker < 15], problem.labels.label[others])
    [finding] = found(shared, "copies-share-a-vote")
    assert finding.about == (15, 16, 17, 18)
    assert found(shared, "copied-labels") == []


def test_sharing_changes_nothing_where_nobody_copies() -> None:
    kept, shared = (hostile("guessers", copies=copies) for copies in ("keep", "share"))
    assert np.array_equal(kept.labels.label, shared.labels.label)
    assert found(shared, "copies-share-a-vote") == []


def test_labels_read_before_are_shared_too() -> None:
    kept = hostile("copiers")
    shared = LabelAggregation(labels=kept.labels, copies="share")
    assert len(shared.labels.worker_ids) == 16


def test_an_estimator_shares_votes_and_learns_from_all_labels_at_once() -> None:
    tables = optiframe.dataset("synthetic.hostile-crowd", structure="copiers").inputs()
    model = LabelAggregator(copies="share").fit(tables["labels"], tables["truth"])
    assert model.result_.metrics["error"] < 0.17
    with pytest.raises(InvalidInput, match='partial_fit cannot go with copies = "share"'):
        model.partial_fit(tables["labels"])


# One label only


@pytest.mark.parametrize("classes", [2, 4])
def test_clickers_are_named(classes: int) -> None:
    [finding] = found(hostile("clickers", classes=classes), "one-label-only")
    assert finding.level == "warning"
    assert finding.about == (20, 21, 22)
    assert "20 (0, 180 times)" in finding.text


@pytest.mark.parametrize(
    "structure", ["drive-by", "copiers", "sparse", "guessers", "adversaries", "colluders"]
)
def test_nobody_is_called_a_clicker_where_nobody_clicks(structure: str) -> None:
    assert [found(hostile(structure, classes=m), "one-label-only") for m in (2, 4)] == [[], []]


def test_a_worker_whose_tasks_are_all_of_one_class_is_no_clicker() -> None:
    truth, said, _ = crowd_and([0.9] * 5)
    specialist = np.where(truth == 1, 1, -1)
    assert found(labels_of(np.vstack([said, specialist])), "one-label-only") == []


def test_a_few_equal_labels_are_no_habit() -> None:
    _, said, _ = crowd_and([0.7] * 5)
    few = np.full(600, -1)
    few[:4] = 1
    assert found(labels_of(np.vstack([said, few])), "one-label-only") == []


@pytest.mark.parametrize("seed", range(3))
def test_clickers_are_named_where_they_are_so_many_that_each_alone_is_in_doubt(seed: int) -> None:
    # 24 honest workers contradict one another on a third of the tasks; 16 give every task a 0.
    rng = np.random.default_rng(seed)
    truth, accuracy = rng.integers(2, size=400), rng.uniform(0.55, 0.95, 24)
    said = np.full((40, 400), -1)
    for task in range(400):
        who = rng.choice(40, 5, replace=False)
        right = rng.random(5) < np.append(accuracy, np.zeros(16))[who]
        said[who, task] = np.where(who < 24, np.where(right, truth[task], 1 - truth[task]), 0)
    [finding] = found(labels_of(said), "one-label-only", "labels.crowd")
    assert set(finding.about) <= set(range(24, 40))
    assert len(finding.about) >= 4
    assert "leave them out" in finding.text


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", SHIPPED)
def test_on_shipped_sets_four_workers_of_temp_are_clickers(name: str) -> None:
    problem = optiframe.problem(dataset=f"labels.{name}")
    assert isinstance(problem, LabelAggregation)
    findings = found(problem, "one-label-only")
    assert [finding.about for finding in findings] == ([(3, 8, 36, 71)] if name == "temp" else [])


# Measured numbers


def graded(values: np.ndarray) -> LabelAggregation:
    """Labels of each task by three workers, shape (tasks, 3)."""
    tasks = len(values)
    return LabelAggregation(
        labels={
            "task": np.repeat(np.arange(tasks), 3),
            "worker": np.tile(np.arange(3), tasks),
            "label": values.ravel(),
        }
    )


def test_measurements_are_no_classes() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.uniform(1, 9, size=(40, 1)) + rng.normal(0, 0.3, size=(40, 3))
    [finding] = found(graded(lengths), "measured-numbers")
    assert finding.level == "warning"
    assert "120 different numbers" in finding.text


def test_measurements_of_a_file_are_no_classes_although_decimals_stay_text_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.uniform(1, 9, size=(40, 1)) + rng.normal(0, 0.3, size=(40, 3))
    lines = [f"{t},{w},{length:.4f}" for t, of_task in enumerate(lengths) for w, length in enumerate(of_task)]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["task,worker,label", *lines]))
    problem = LabelAggregation(labels=path)
    assert all(isinstance(label, str) for label in problem.classes)
    [finding] = found(problem, "measured-numbers")
    middle = sorted(lengths.ravel())[60]
    assert f"such as {float(f'{middle:.4f}'):g}," in finding.text


def test_percentages_that_lie_close_together_are_no_classes() -> None:
    rng = np.random.default_rng(0)
    grades = np.clip(rng.integers(0, 100, size=(60, 1)) + rng.integers(-5, 6, size=(60, 3)), 0, 100)
    assert len(found(graded(grades), "measured-numbers")) == 1


def test_codes_of_many_classes_are_classes() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 50, size=(200, 1))
    codes = np.where(rng.random((200, 3)) < 0.6, truth, rng.integers(0, 50, size=(200, 3)))
    assert found(graded(codes), "measured-numbers") == []


@pytest.mark.parametrize(
    "scale", [np.arange(1, 6), np.arange(0, 5.5, 0.5)[:10], np.array(list("abcdefghijklm"))]
)
def test_scales_and_words_are_classes(scale: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    near = rng.integers(1, len(scale) - 1, size=(60, 1)) + rng.integers(-1, 2, size=(60, 3))
    assert found(graded(scale[near]), "measured-numbers") == []


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_sets_have_classes_and_hang_on_no_single_label(name: str) -> None:
    problem = optiframe.problem(dataset=f"labels.{name}")
    assert isinstance(problem, LabelAggregation)
    said = {each.identifier for each in optiframe.solve(problem, "labels.dawid-skene").findings}
    assert said & {"labels.measured-numbers", "labels.groups-joined-by-one-label"} == set()


# Groups joined by one label

TWO_GROUPS = [
    (f"{group}{t}", f"{group}{w}", (t + (w == t)) % 2) for group in "ab" for t in range(6) for w in range(3)
]


def test_two_groups_that_hang_on_one_label_are_named() -> None:
    problem = LabelAggregation(labels=rows(*TWO_GROUPS, ("b0", "a0", 0)))
    [finding] = found(problem, "groups-joined-by-one-label", "rankone.pgd")
    assert finding.level == "warning"
    assert "a0 on b0" in finding.text
    assert finding.about in (("a0", "a1", "a2"), ("b0", "b1", "b2"))


def test_a_task_of_its_own_that_joins_two_groups_is_said_once() -> None:
    problem = LabelAggregation(labels=rows(*TWO_GROUPS, ("c", "a0", 0), ("c", "b0", 0)))
    assert len(bridges(problem.labels)) == 1


@pytest.mark.parametrize("more", [[], [("b0", "a0", 0), ("b1", "a1", 0)], [("b0", "new", 0)]])
def test_groups_apart_or_well_joined_or_a_single_newcomer_are_not(more: list[tuple[str, str, int]]) -> None:
    problem = LabelAggregation(labels=rows(*TWO_GROUPS, *more))
    assert found(problem, "groups-joined-by-one-label", "rankone.pgd") == []


def test_the_majority_is_not_told_of_groups_that_it_does_not_compare() -> None:
    problem = LabelAggregation(labels=rows(*TWO_GROUPS, ("b0", "a0", 0)))
    assert found(problem, "groups-joined-by-one-label") == []


@settings(max_examples=60, deadline=None)
@given(cells=st.sets(st.tuples(st.integers(0, 9), st.integers(0, 6)), min_size=2, max_size=22))
@pytest.mark.slow
def test_bridges_are_the_labels_without_which_workers_fall_apart(cells: set[tuple[int, int]]) -> None:
    labels = LabelAggregation(labels=rows(*[(t, w, k % 2) for k, (t, w) in enumerate(sorted(cells))])).labels
    workers = len(labels.worker_ids)
    expected = set()
    for row in range(len(labels)):
        kept = np.arange(len(labels)) != row
        size = workers + len(labels.task_ids)
        joined = np.zeros((size, size))
        joined[labels.worker[kept], workers + labels.task[kept]] = 1
        part = connected_components(joined, directed=False)[1]
        here, there = part[labels.worker[row]], part[workers + labels.task[row]]
        sides = [frozenset(np.flatnonzero(part[:workers] == side).tolist()) for side in (here, there)]
        if here != there and min(map(len, sides)) > 1:
            expected.add(frozenset(sides))
    assert len(bridges(labels)) == len(expected)


def test_a_problem_of_one_worker_has_no_habits_to_compare() -> None:
    problem = coin(0, [0.8, 0.6, 0.7], tasks=12, per_task=1)
    for name in ("one-label-only", "copied-labels", "groups-joined-by-one-label"):
        assert found(problem, name, "rankone.pgd") == []
