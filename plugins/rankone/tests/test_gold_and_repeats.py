"""Known truths to build on, known skills, and rows that repeat a task and worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import InvalidInput

from .slow import SMALL, quietly, single_coin, texts
from .test_bad_labels import solvers


def liars(classes: int = 2) -> dict[str, Any]:
    """Five workers who agree with each other and are mostly wrong."""
    return single_coin(4, np.full(5, -0.45 if classes == 3 else -0.8), tasks=60, per_task=5, classes=classes)


def gold_of(inputs: dict[str, Any], tasks: list[int]) -> dict[str, Any]:
    return {"task": tasks, "label": inputs["truth"]["label"][tasks]}


# Gold


def test_gold_turns_a_group_that_is_wrong_on_the_whole() -> None:
    inputs = liars()
    assert optiframe.solve(LabelAggregation(**inputs), "rankone.pgd").metrics["error"] > 0.9
    result = optiframe.solve(LabelAggregation(**inputs, gold=gold_of(inputs, [0, 1])), "rankone.pgd")
    assert (result.solution.skills < 0).all()
    assert result.metrics["error"] < 0.1
    assert "in a group that is mostly wrong, according to the gold" in texts(result)
    assert "by convention" not in texts(result)


@pytest.mark.parametrize(
    ("known", "words"),
    [(1, "(1 known answer, too few to rely on; give at least 5)"), (6, "(6 known answers):")],
)
def test_a_group_reversed_by_few_known_answers_says_how_few(known: int, words: str) -> None:
    inputs = liars()
    gold = gold_of(inputs, list(range(known)))
    gold["task"] = [*gold["task"], 999]  # nobody labelled it
    gold["label"] = np.append(gold["label"], 0)
    assert words in texts(optiframe.solve(LabelAggregation(**inputs, gold=gold), "rankone.pgd"))


def test_gold_fixes_the_sign_of_its_own_component_only() -> None:
    first, second = liars(), liars()
    shift = {"task": 100, "worker": 100, "label": 0}
    labels = {
        key: np.concatenate([first["labels"][key], second["labels"][key] + shift[key]]) for key in shift
    }
    problem = LabelAggregation(labels=labels, gold=gold_of(first, [0, 1]))
    result = optiframe.solve(problem, "rankone.pgd")
    assert (result.solution.skills[:5] < 0).all()
    assert (result.solution.skills[5:] > 0).all()
    assert "separately, but where gold says" in texts(result)


def test_gold_decides_between_two_who_disagree() -> None:
    labels = {"task": np.repeat(np.arange(8), 2), "worker": [0, 1] * 8, "label": [0, 1] * 7 + [1, 1]}
    assert optiframe.solve(LabelAggregation(labels=labels), "rankone.pgd").solution.skills.tolist() == [0, 0]
    problem = LabelAggregation(labels=labels, gold={"task": [0, 1], "label": [0, 0]})
    skills = optiframe.solve(problem, "rankone.pgd").solution.skills
    assert skills[0] > 0 > skills[1]


@pytest.mark.slow
@pytest.mark.parametrize("solver", solvers())
@pytest.mark.parametrize("classes", [2, 3])
def test_gold_is_certain_in_the_answer_and_not_scored(solver: str, classes: int) -> None:
    inputs = single_coin(1, np.full(6, 0.4), tasks=40, per_task=3, classes=classes)
    inputs["skills"] = {"worker": np.arange(6), "skill": np.full(6, 0.4)}
    plain = quietly(LabelAggregation(**inputs), solver).solution
    wrong = np.flatnonzero(plain.predicted() != inputs["truth"]["label"])[:3].tolist()
    problem = LabelAggregation(**inputs, gold=gold_of(inputs, wrong))
    result = quietly(problem, solver)
    truth = inputs["truth"]["label"][wrong]
    assert result.solution.predicted()[wrong].tolist() == truth.tolist()
    assert result.solution.probabilities[wrong, truth] == pytest.approx(1.0, abs=1e-12)
    others = np.setdiff1d(np.arange(40), wrong)
    right = result.solution.predicted()[others] == inputs["truth"]["label"][others]
    assert result.metrics["error_resolved"] == pytest.approx(1 - right.mean())


def test_when_every_truth_is_gold_there_is_nothing_to_score() -> None:
    problem = LabelAggregation(
        labels=SMALL, truth={"task": [1], "label": ["x"]}, gold={"task": [1], "label": ["x"]}
    )
    assert optiframe.solve(problem, "labels.majority").metrics == {}


def test_a_label_that_only_gold_gives_is_a_class() -> None:
    problem = LabelAggregation(labels=SMALL, gold={"task": [1, 2], "label": ["z", "x"]})
    assert problem.classes.tolist() == ["x", "y", "z"]
    result = optiframe.solve(problem, "labels.majority")
    assert result.solution.predicted()[0] == "z"
    [note] = [each for each in result.findings if each.identifier == "labels.class-of-gold-only"]
    assert (note.level, note.about) == ("note", ("z",))
    assert note.text.startswith("1 class that no worker gave, added by the gold: z;")


def test_gold_of_classes_that_workers_gave_adds_none() -> None:
    problem = LabelAggregation(labels=SMALL, gold={"task": [1, 2], "label": ["y", "x"]})
    said = {each.identifier for each in optiframe.solve(problem, "labels.majority").findings}
    assert "labels.class-of-gold-only" not in said


def test_gold_and_skills_take_their_column_names_from_the_mapping() -> None:
    problem = LabelAggregation(
        labels={"task": SMALL["task"], "who": SMALL["worker"], "label": SMALL["label"]},
        gold={"task": [1], "known": ["y"]},
        skills={"who": ["a", "b", "c", "d"], "s": [1, 0.5, None, 0]},
        columns={"gold": "known", "skill": "s", "worker": "who"},
    )
    assert problem.gold_codes.tolist() == [1, -1, -1]
    assert problem.true_skills.tolist()[:2] == [1, 0.5]
    assert np.isnan(problem.true_skills[2])
    assert "1 worker in the skills without any label; ignored: d" in texts(
        optiframe.solve(problem, "labels.majority")
    )


def test_tables_read_for_other_labels_are_refused_on_a_copy() -> None:
    problem = LabelAggregation(labels=SMALL, truth={"task": [1], "label": ["x"]})
    other = LabelAggregation(labels={name: column[:5] for name, column in SMALL.items()})
    with pytest.raises(InvalidInput, match="was read for 3 tasks, the labels have 2"):
        problem.model_copy(update={"labels": other.labels})


# Repeated pairs: a says x, y, y of task 1 and x, x of task 2; b says x, y of task 1

REPEATS = {
    "task": [1, 1, 1, 2, 2, 1, 1, 3, 3],
    "worker": list("aaaaabbab"),
    "label": list("xyyxxxyxy"),
}


def kept(policy: str) -> list[tuple[int, str, str]]:
    labels = LabelAggregation(labels=REPEATS, duplicates=policy).labels
    columns = (labels.task_ids[labels.task], labels.worker_ids[labels.worker], labels.label_ids[labels.label])
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("first", [(1, "a", "x"), (1, "b", "x"), (2, "a", "x"), (3, "a", "x"), (3, "b", "y")]),
        ("last", [(1, "a", "y"), (1, "b", "y"), (2, "a", "x"), (3, "a", "x"), (3, "b", "y")]),
        ("majority", [(1, "a", "y"), (2, "a", "x"), (3, "a", "x"), (3, "b", "y")]),
        ("drop", [(2, "a", "x"), (3, "a", "x"), (3, "b", "y")]),
    ],
)
def test_policies_for_repeated_pairs(policy: str, expected: list[tuple[int, str, str]]) -> None:
    assert kept(policy) == expected
    result = optiframe.solve(LabelAggregation(labels=REPEATS, duplicates=policy), "labels.majority")
    assert "3 pairs of task and worker with several rows, in 2 of them rows that disagree" in texts(result)
    if policy == "majority":
        assert "1 left out, since nothing says which row is right: 1 by b" in texts(result)
    if policy == "drop":
        assert "1 task without any label left, so not in the answer: 1" in texts(result)
        assert result.solution.task_ids.tolist() == [2, 3]


def test_agreeing_rows_are_merged_and_disagreeing_ones_named() -> None:
    agreeing = {name: column[3:5] + column[7:] for name, column in REPEATS.items()}
    problem = LabelAggregation(labels=agreeing, duplicates="agreeing")
    assert len(problem.labels) == 3
    finding = optiframe.solve(problem, "labels.majority").findings
    assert any(f.level == "note" and "rows that agree count once" in f.text for f in finding)
    with pytest.raises(InvalidInput, match="row 1: worker a labels task 1 otherwise than in row 0"):
        LabelAggregation(labels=REPEATS, duplicates="agreeing")


@pytest.mark.parametrize(
    ("labels", "said"), [(["x", "x", "y"], "which agree"), (["x", "y", "y"], "which disagree")]
)
def test_a_single_repeated_pair_is_one_in_words(labels: list[str], said: str) -> None:
    table = {"task": [1, 1, 1], "worker": ["a", "a", "b"], "label": labels}
    problem = LabelAggregation(labels=table, duplicates="first")
    told = texts(optiframe.solve(problem, "labels.majority"))
    assert f"1 pair of task and worker with several rows, {said}: the first row counts" in told


def test_without_repeats_every_policy_gives_the_same_labels() -> None:
    tables = {
        policy: LabelAggregation(labels=SMALL, duplicates=policy).labels
        for policy in ("error", "agreeing", "first", "last", "majority", "drop")
    }
    assert all(table.repeats is None and len(table) == 6 for table in tables.values())


def test_a_policy_that_leaves_nothing_is_an_error() -> None:
    labels = {"task": [1, 1], "worker": ["a", "a"], "label": ["x", "y"]}
    with pytest.raises(InvalidInput, match="duplicates='drop' leaves no label"):
        LabelAggregation(labels=labels, duplicates="drop")
