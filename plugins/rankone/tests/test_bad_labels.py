"""Labels that say too little: every solver answers with warnings in words, or says clearly why not."""

from __future__ import annotations

import itertools
import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import InvalidInput, Unsuited
from optiframe.registry import registry
from optiframe.registry.registry import build
from optiframe.solving.chain import why_unsuited

from .slow import SMALL, quietly, rows, single_coin, texts

REGULAR = single_coin(0, np.array([0.8, 0.6, 0.7, 0.5]), tasks=12, per_task=3)


def solvers() -> list[str]:
    """Every solver of the core and of this plugin that takes ordinary labels as it is."""
    skills = {"worker": np.arange(4), "skill": [0.8, 0.6, 0.7, 0.5]}
    problem = LabelAggregation(**REGULAR, skills=skills)
    found = []
    for entry in registry.registry().entries("solver"):
        if entry.distribution not in ("optiframework", "optiframework-rankone"):
            continue  # other people's have tests of their own
        if entry.name.startswith("scipy.") and entry.name not in ("scipy.lbfgs", "scipy.trust-constr"):
            continue  # they are given the same `Minimize`
        try:
            solver = build("solver", entry.name)
        except InvalidInput:
            continue  # it needs parameters that nobody can guess
        if why_unsuited(problem, solver) is None:
            found.append(entry.name)
    return found


ONE_WORKER = rows(*[(t, "ann", t % 2) for t in range(6)])
ALIKE = rows(*[(t, w, t % 2) for t in range(6) for w in range(3)])
NEWCOMER = rows(*[*((t, w, (t + (w == t)) % 2) for t in range(8) for w in range(4)), (0, 99, 1)])
# Every pattern of labels once: no pair of workers is correlated.
RANDOM = rows(
    *(
        (t, w, said)
        for t, pattern in enumerate(itertools.product((0, 1), repeat=4))
        for w, said in enumerate(pattern)
    )
)
EVEN_RING = rows(
    *(
        (f"{edge}.{t}", (edge + end) % 4, (t + (end and t == 1)) % 2)
        for edge in range(4)
        for t in range(5)
        for end in (0, 1)
    )
)
AGAIN = rows(*[*((t, w, (t + (w == t)) % 2) for t in range(6) for w in range(3)), (0, 0, 0), (1, 1, 1)])

# Inputs, words that must be said whatever the method, and words for methods that give skills.
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "one worker": ({"labels": ONE_WORKER}, "the answer repeats the labels", "nothing to compare with"),
    "all workers identical": ({"labels": ALIKE}, "no two workers disagree", ""),
    "a worker with one label": ({"labels": NEWCOMER}, "", "too few for any skill|a single label"),
    "a truth without labels": (
        {"labels": REGULAR["labels"], "truth": {"task": [0, 77], "label": [0, 1]}},
        "in the truth without any label; ignored: 77",
        "",
    ),
    "gold without labels": (
        {"labels": REGULAR["labels"], "gold": {"task": [0, 77], "label": [0, 1]}},
        "in the gold without any label; ignored: 77",
        "",
    ),
    "repeated rows that agree and disagree": (
        {"labels": AGAIN, "duplicates": "drop"},
        "2 pairs of task and worker with several rows",
        "",
    ),
    "all skills zero": ({"labels": RANDOM}, "no more than labels given at random", ""),
    "one even ring": ({"labels": EVEN_RING}, "", "bipartite"),
}


@pytest.mark.slow
@pytest.mark.parametrize("solver", solvers())
@pytest.mark.parametrize("case", CASES)
def test_labels_that_say_too_little_give_warnings_in_words_or_a_clear_error(case: str, solver: str) -> None:
    inputs, always, with_skills = CASES[case]
    problem = LabelAggregation(**inputs)
    try:
        result = quietly(problem, solver)
    except (Unsuited, InvalidInput):
        return  # no other error is let through; the table of messages has the project's words
    if result.solution is None:
        assert len(result.message) > 20
        return
    assert np.isfinite(result.solution.scores).all()
    assert np.isfinite(result.solution.probabilities).all()
    said = texts(result)
    assert re.search(always, said), said
    if result.solution.skills is not None:
        assert np.isfinite(result.solution.skills).all()
        assert re.search(with_skills, said), said


# What is refused before any method, from frames and columns; from files: tests/test_bad_input.py.

INF = float("inf")
TWO = {"task": [0, 0, 1, 1], "worker": [1, 2, 1, 2], "label": [0.0, 1.0, 1.0, 1.0]}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"labels": {**SMALL, "label": ["x"] * 6}}, "only one label value occurs"),
    (
        {"labels": {**SMALL, "label": ["x"] * 6}, "truth": {"task": [1, 2], "label": ["x", "y"]}},
        r"one label value occurs \(x\).*only the truth names is no class",
    ),
    ({"labels": AGAIN}, r"row 18: worker 0 labels task 0 again, first in row 0 \(2 rows repeat a pair: "),
    ({"labels": AGAIN, "duplicates": "agreeing"}, "labels task 0 otherwise than in row 0"),
    ({"labels": {**SMALL, "worker": [[name] for name in "abcaba"]}}, "hashable"),
    ({"labels": 3}, "not a table"),
    *(
        ({"labels": {**TWO, key: kind([*values[:3], end])}}, rf"row 3: {key} is -?inf; .* is no id")
        for key, values in TWO.items()
        for end in (INF, -INF)
        for kind in (list, lambda mixed: np.array(mixed, dtype=object))
    ),
    ({"labels": TWO, "truth": {"task": [0, 0, 1], "label": [None, 1.0, INF]}}, "truth row 2: label is inf"),
    ({"truth": {"task": ["1", "2"], "label": ["x", "y"]}}, "text, such as '1'; there they are whole numbers"),
    ({"truth": {"task": [1, 2], "label": [0, 1]}}, "none of its labels was given.*whole numbers"),
    (
        {"truth": {"task": [1, 2], "label": ["x", "y"]}, "gold": {"task": [1], "label": ["y"]}},
        "gold: task 1 is y here and x in the truth; keep the right label",
    ),
    ({"gold": {"task": [9], "label": ["x"]}}, "gold: none of its 1 tasks occurs"),
    ({"gold": {"task": [1, 1], "label": ["x", "y"]}}, "gold row 1: the truth of task 1 is y here"),
    ({"gold": {"task": [1]}}, "gold has no column 'label'"),
    ({"skills": {"worker": ["a"]}}, "skills has no column 'skill'"),
    ({"skills": {"worker": ["q"], "skill": [0.5]}}, "skills: none of its 1 workers occurs"),
    ({"skills": {"worker": ["a"], "skill": [1.5]}}, "row 0: the skill of worker a is 1.5"),
    ({"skills": {"worker": ["a"], "skill": ["good"]}}, "row 0: the skill of worker a is good"),
    ({"skills": {"worker": ["a"], "skill": [True]}}, "the skill of worker a is True"),
    (
        {"skills": {"worker": ["a", "a"], "skill": [0.5, 0.4]}},
        "row 1: worker a has the skill 0.4 here and",
    ),
    (
        {"labels": {**SMALL, "label": list("xxyyzx")}, "skills": {"worker": ["a"], "skill": [-0.7]}},
        "skill of worker a is -0.7; with 3 classes a worker who is always wrong has -0.5",
    ),
    ({"columns": {"taks": "item"}}, "unknown column 'taks'; did you mean 'task'"),
    ({"columns": {"task": 3}}, "must be text"),
    ({"columns": "item"}, "must be a table"),
    ({"duplicates": "firts"}, "did you mean 'first'"),
    ({"tau": 0}, "tau: must be greater than 0"),
    ({"weights": "counts"}, "did you mean 'count'"),
    ({"tie_seed": -1}, "at least 0"),
    ({"label": SMALL}, "did you mean 'labels'"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_cannot_be_used_is_refused_in_words(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LabelAggregation(**{"labels": SMALL, **changes})


def distinct(labels: int, values: int, tasks: int) -> dict[str, Any]:
    """Labels of which so many values occur, three a task."""
    row = np.arange(labels)
    return {"task": row % tasks, "worker": row // tasks, "label": row % values}


def test_ids_in_the_column_of_labels_are_refused_before_memory_is_taken() -> None:
    words = "100000 labels have 100000 different values, such as 0, 1, 2; .* 33334 tasks would take 26.7 GB"
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=words + ".*`columns`"):
        LabelAggregation(labels=distinct(100_000, 100_000, 33_334))
    assert tracemalloc.get_traced_memory()[1] < 2**27
    tracemalloc.stop()


@pytest.mark.parametrize(("labels", "values", "tasks"), [(100_000, 5_000, 100_000), (3_000, 3_000, 1_000)])
def test_many_classes_are_taken_where_each_is_used_or_scores_are_small(
    labels: int, values: int, tasks: int
) -> None:
    problem = LabelAggregation(labels=distinct(labels, values, tasks))
    assert len(problem.classes) == values


@pytest.mark.parametrize("solver", ["labels.crowd", "labels.dawid-skene", "labels.opt-ds"])
def test_confusion_matrices_that_no_memory_holds_are_refused(solver: str) -> None:
    problem = LabelAggregation(labels=distinct(30_000, 20_000, 10_000))
    with pytest.raises(Unsuited, match=r"between 20000 classes would take 9.60 GB|tensor"):
        optiframe.solve(problem, solver)


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (
            [1, "1", 2],
            "such as '1' and 1: each form counts as a worker of its own; write each id in one way: 1",
        ),
        ([1.0, "1", 2.5], "such as '1' and 1:"),
        ([True, "True", 2], "such as 'True' and True:"),
        ([(1, 2), "(1, 2)", 3], r"such as '\(1, 2\)' and \(1, 2\):"),
    ],
)
def test_ids_that_print_the_same_are_named_whatever_their_kind(ids: list[Any], said: str) -> None:
    labels = {"task": [0, 0, 0, 1, 1, 1], "worker": ids * 2, "label": [0, 1, 0, 1, 1, 0]}
    problem = LabelAggregation(labels=labels)
    findings = optiframe.solve(problem, "labels.majority").findings
    (found,) = [f.text for f in findings if "prints the same" in f.text]
    assert found.startswith("1 worker id occurs both as text and as another type that prints the same, ")
    assert re.search(said, found)
    assert len(problem.labels.worker_ids) == 3
