"""The truth is for the metrics: no answer depends on it. Slips and answers that are none are said."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.datasets.own_labels import OwnLabels
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.tools.learning_curve import accuracy_by_labels

import optiframe
from optiframe import BrokenPlugin, Finding, InvalidInput, Iterate, Iterates, Result, Run, Solver
from optiframe.registry.registry import registry

from .slow import quietly

NAMES = np.array(["ant", "bee", "cat"])
SOLVERS = [one.name for one in registry().entries("solver") if one.distribution == "optiframework-rankone"]


@cache
def given(classes: int = 2) -> dict[str, Any]:
    """24 tasks with one of the first `classes` names, by 6 workers who are right more often than not."""
    rng = np.random.default_rng(classes)
    true = rng.integers(classes, size=24)
    task, worker = np.divmod(np.arange(24 * 6), 6)
    right = rng.random(len(task)) < np.array([0.9, 0.8, 0.7, 0.8, 0.6, 0.75])[worker]
    label = np.where(right, true[task], (true[task] + rng.integers(1, classes, size=len(task))) % classes)
    return {
        "labels": {"task": task, "worker": worker, "label": NAMES[label]},
        "truth": {"task": np.arange(24), "label": NAMES[true]},
    }


def mistyped(truth: dict[str, Any]) -> dict[str, Any]:
    """With labels that nobody gave, one of them of another type and one of a task without labels."""
    label = truth["label"].astype(object)
    label[3], label[7] = "kat", 7
    return {"task": [*truth["task"], 99], "label": [*label, "dog"]}


def solved(name: str, **inputs: Any) -> Result:
    return quietly(LabelAggregation(**inputs), name, iterations=5)


def about_the_answer(result: Result) -> list[Finding]:
    return [one for one in result.findings if "truth" not in one.text and "true label" not in one.text]


def classes_said(labels: list[str], **more: Any) -> list[Finding]:
    """Findings on the classes of labels by two workers, in turn; the second gives those of the first."""
    tasks = np.arange(len(labels))
    names = ["ann"] * len(labels) + ["bob"] * len(labels)
    both = {"task": [*tasks, *tasks], "worker": names, "label": [*labels, *more.pop("second", labels)]}
    found = solved("labels.majority", labels=both, **more).findings
    return [one for one in found if "class" in one.text or "true label" in one.text]


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", SOLVERS)
def test_no_bit_of_an_answer_depends_on_the_truth(name: str, classes: int) -> None:
    inputs = given(classes)
    known = {"labels": inputs["labels"]}
    if name == "labels.oracle":  # the true skills it takes are no part of the truth
        known["skills"] = {"worker": np.arange(6), "skill": np.linspace(0.2, 0.8, 6)}
    alone = solved(name, **known)
    for truth in (inputs["truth"], mistyped(inputs["truth"])):
        told = solved(name, **known, truth=truth)
        assert told.solution.classes.tolist() == NAMES[:classes].tolist()
        assert told.solution.classes.dtype == alone.solution.classes.dtype
        assert np.array_equal(told.solution.scores, alone.solution.scores)
        assert (told.solution.skills is None) == (alone.solution.skills is None)
        if alone.solution.skills is not None:
            assert np.array_equal(told.solution.skills, alone.solution.skills)
        assert told.iterations == alone.iterations
        assert np.array_equal(told.objective, alone.objective, equal_nan=True)
        assert about_the_answer(told) == about_the_answer(alone)


def test_true_labels_that_nobody_gave_are_named_and_count_as_wrong() -> None:
    inputs = given()
    others = np.setdiff1d(np.arange(24), (3, 7))
    without = {"task": others, "label": inputs["truth"]["label"][others]}
    good = solved("labels.majority", labels=inputs["labels"], truth=without)
    bad = solved("labels.majority", labels=inputs["labels"], truth=mistyped(inputs["truth"]))
    for name in ("error", "error_resolved"):
        assert bad.metrics[name] * 24 == pytest.approx(good.metrics[name] * 22 + 2)
    (said,) = [one for one in bad.findings if "true label" in one.text]
    assert said.level == "warning"
    assert said.text.startswith("2 true labels were never given by a worker: kat (3), 7 (7); ")
    assert said.about == (3, 7)


def test_gold_that_contradicts_a_true_label_that_nobody_gave_is_refused_by_both_names() -> None:
    inputs = given()
    with pytest.raises(InvalidInput, match="gold: task 3 is ant here and kat in the truth"):
        LabelAggregation(
            labels=inputs["labels"], truth=mistyped(inputs["truth"]), gold={"task": [3], "label": ["ant"]}
        )


def test_labels_of_ones_own_keep_true_labels_that_nobody_gave() -> None:
    inputs = given()
    again = OwnLabels.of({"labels": inputs["labels"], "truth": mistyped(inputs["truth"])}).inputs()
    assert again["truth"]["label"][[3, 7]].tolist() == ["kat", 7]


def test_fewer_labels_keep_the_classes_of_all() -> None:
    rows = {"task": [1, 1, 1, 2, 2], "worker": list("abcab"), "label": ["x", "x", "y", "x", "x"]}
    problem = LabelAggregation(labels=rows, truth={"task": [1, 2], "label": ["x", "x"]})
    table = accuracy_by_labels(problem, ["labels.majority"], labels_per_task=[1], repeats=4)
    assert 0.5 <= table["accuracy"][0] <= 1.0


# Classes that may be slips


def test_classes_that_differ_in_capitals_or_blanks_are_named_once() -> None:
    labels = ["cat", "dog"] * 30
    (said,) = classes_said(labels, second=["Cat", *labels[1:3], "d og", *labels[4:]])
    assert said.level == "warning"
    assert said.text.endswith("(labels in brackets): 'Cat' (1) and 'cat' (59), 'd og' (1) and 'dog' (59)")
    assert said.about == ("Cat", "cat", "d og", "dog")


def test_a_class_given_hardly_ever_is_named_with_who_where_and_what_it_may_mean() -> None:
    labels = ["cat", "dog"] * 30
    (said,) = classes_said(labels, second=["kat", *labels[1:]])
    assert said.level == "warning"
    assert said.text == (
        "the class 'kat' was given only once in 120 labels (by bob, for 0); if it is a slip, fix it: an "
        "extra class changes every answer; did you mean 'cat'?"
    )


@pytest.mark.parametrize(
    "labels",
    [
        ["cat", "dog"] * 30,  # ordinary
        ["cat", "dog"] * 30 + ["eel"],  # rare, but seen by both
        ["cat"] * 60 + ["dog"] * 5,  # rarer than the other, and far from once
        [f"class {k}" for k in range(60)],  # all rare
        [*(f"class {k}" for k in range(20)), *["cat"] * 60],  # many are rare, as they are here
    ],
)
def test_nothing_is_said_about_ordinary_classes(labels: list[str]) -> None:
    assert classes_said(labels) == []


# Answers that are none, of a solver of one's own


class OwnScores(Solver[LabelAggregation, Aggregation, None]):
    """Gives the scores, or the weights of workers, that the test says."""

    name = "own.scores"
    solves = LabelAggregation
    given: ClassVar[list[Any]] = []
    vote: ClassVar[bool] = False

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        for one in self.given:
            yield Iterate(one)

    def finish(self, problem: LabelAggregation, iterate: Iterate) -> Aggregation:
        if self.vote:
            return problem.vote(iterate.x, "votes")
        return problem.from_scores(iterate.x, "votes")


@pytest.mark.parametrize(
    ("scores", "vote", "message"),
    [
        (np.full((24, 2), np.nan), False, r"scores must be finite numbers, .*\(24, 2\), got nan for 0"),
        (np.zeros((24, 3)), False, r"scores must be .*task and class, shape \(24, 2\), got shape \(24, 3\)"),
        ([[0.0, 1.0]] * 24, False, r"scores must be .*got list"),
        (None, False, r"scores must be .*got NoneType"),
        (np.zeros(4), True, r"weight must be 6 numbers, one for each worker, got shape \(4,\)"),
    ],
)
@pytest.mark.parametrize("gold", [None, {"task": [1], "label": ["ant"]}])
def test_an_answer_without_a_number_for_each_is_laid_to_the_solver(
    scores: Any, vote: bool, message: str, gold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OwnScores, "given", [scores])
    monkeypatch.setattr(OwnScores, "vote", vote)
    said = f"^own.scores does not give an answer to 'label-aggregation': .*{message}"
    with pytest.raises(BrokenPlugin, match=said):
        optiframe.solve(LabelAggregation(labels=given()["labels"], gold=gold), OwnScores())


def test_scores_that_cease_to_be_numbers_are_said_and_count_as_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = np.tile([0.0, 1.0], (24, 1))
    bad = good.copy()
    bad[3] = np.nan
    monkeypatch.setattr(OwnScores, "given", [good, bad])
    inputs = given()
    result = optiframe.solve(LabelAggregation(**inputs), OwnScores())
    (said,) = [one for one in result.findings if one.level == "error"]
    assert said.text == "1 task whose scores are not finite numbers; do not use the answer: 3"
    assert result.metrics["error"] == pytest.approx(
        np.mean((inputs["truth"]["label"] != "bee") | (np.arange(24) == 3))
    )
