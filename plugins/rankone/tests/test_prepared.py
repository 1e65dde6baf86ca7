"""The compiled way from a table to an answer against the way without a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import optiframe_rankone
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone import kernels, prepared, uncertainty
from optiframe_rankone.label_aggregation import LabelAggregation
from optiframe_rankone.pairs import of_entries

import optiframe
from optiframe.errors import InvalidInput
from optiframe.frames import encode

from .slow import co_occurrence, single_coin
from .test_kernels import label_sets

TEXT = {"task": str, "worker": str, "label": str}


@pytest.fixture(autouse=True, scope="module")
def kernels_compiled() -> None:
    assert optiframe_rankone.prepare()


def codes(problem: LabelAggregation) -> tuple[Any, Any, Any]:
    return problem.labels.task, problem.labels.worker, problem.label_codes


@given(st.lists(st.integers(-20, 20), min_size=11, max_size=60))
@settings(max_examples=30)
def test_codes_of_whole_numbers_are_those_of_encode(values: list[int]) -> None:
    column = np.array(values)
    found = prepared.encoded(column)
    assert found is not None
    for ours, theirs in zip(found, encode(column), strict=True):
        assert np.array_equal(ours, theirs)


def test_numbers_far_apart_are_left_to_encode() -> None:
    assert prepared.encoded(np.array([0, 10**15])) is None


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1), st.randoms())
@settings(max_examples=30)
def test_labels_are_sorted_by_task_and_worker(cells: set[tuple[int, int]], random: Any) -> None:
    rows = list(cells)
    random.shuffle(rows)
    task, worker = np.array(rows).T
    label = np.arange(len(rows))  # says which row it was
    found = prepared.sorted_labels(task, worker, label, tasks=6, workers=5)
    order = kernels.order(task * 5 + worker)
    assert found is not None
    for ours, column in zip(found, (task, worker, label), strict=True):
        assert np.array_equal(ours, column[order])
    again = (np.append(column, column[0]) for column in (task, worker, label))
    assert prepared.sorted_labels(*again, tasks=6, workers=5) is None


@pytest.mark.parametrize("width", [np.uint32, np.uint64])
@given(problem=label_sets())
@settings(max_examples=30)
def test_compiled_counts_equal_a_loop_over_pairs_of_labels(width: Any, problem: LabelAggregation) -> None:
    workers = len(problem.labels.worker_ids)
    shared, agreed = prepared._counted(*codes(problem), workers, width)
    slow_shared, slow_agreed = co_occurrence(problem)
    assert np.array_equal(shared.toarray(), slow_shared)
    assert shared.has_sorted_indices
    assert np.array_equal(agreed, slow_agreed[np.nonzero(slow_shared)])


@given(label_sets(), st.integers(0, 100))
@settings(max_examples=30)
def test_compiled_sums_equal_those_of_numpy(problem: LabelAggregation, seed: int) -> None:
    workers, classes = len(problem.labels.worker_ids), len(problem.classes)
    x = np.random.default_rng(seed).normal(size=workers)
    task, worker, label = codes(problem)
    tasks = len(problem.labels.task_ids)
    votes = prepared.vote(task, worker, label, x, tasks=tasks, classes=classes)
    assert np.array_equal(votes, kernels.vote(task, worker, label, x, tasks=tasks, classes=classes))
    pull, curvature = prepared.pulls_of_labels(task, worker, label, classes=classes, x=x)
    slow_pull, others = uncertainty._plain_pulls(problem, x)
    assert pull == pytest.approx(slow_pull, rel=1e-10, abs=1e-10)
    assert curvature == pytest.approx(np.bincount(worker, others, workers), rel=1e-10, abs=1e-10)
    means = np.bincount(worker, pull, workers) / problem.labels_per_worker
    spread = np.bincount(worker, (pull - means[worker]) ** 2, workers)
    assert prepared.centred_squares(worker, pull, workers) == pytest.approx(spread, rel=1e-10, abs=1e-10)
    fit = problem.formulation.problem.least_squares  # type: ignore[union-attr]  # it always formulates
    cost = prepared.weighted_misses(fit.known, fit.targets.data, x) / 4
    assert cost == pytest.approx(of_entries(fit.known, fit.targets).cost(x), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ids", ["numbers", "text"])
def test_both_ways_give_one_answer(monkeypatch: pytest.MonkeyPatch, classes: int, ids: str) -> None:
    skills = np.random.default_rng(5).uniform(-0.2, 0.9, size=310)  # too many for joint errors
    inputs = single_coin(3, skills, tasks=150, per_task=6, classes=classes)
    frame = pd.DataFrame(inputs["labels"]).sample(frac=1.0, random_state=1)
    frame = frame.astype(TEXT) if ids == "text" else frame
    results = []
    for least in (10**9, 0):
        monkeypatch.setattr(prepared, "_WORTH_LOADING", least)
        problem = LabelAggregation(labels=frame)
        result = optiframe.solve(problem, "rankone.pgd", progress=False)
        results.append((problem, result, uncertainty.standard_errors(problem, result.solution)))
    (one, first, errors), (two, second, compiled_errors) = results
    for name in ("task", "worker", "label", "task_ids", "worker_ids", "label_ids"):
        assert np.array_equal(getattr(one.labels, name), getattr(two.labels, name))
    assert one.fingerprint() == two.fingerprint()
    assert first.solved == second.solved
    assert first.solution.skills == pytest.approx(second.solution.skills, abs=1e-10)
    assert first.objective == pytest.approx(second.objective, rel=1e-10)
    assert errors == pytest.approx(compiled_errors, rel=1e-10)
    assert [finding.text for finding in first.findings] == [finding.text for finding in second.findings]


def test_a_repeated_pair_is_refused_in_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"task": [7, 7, 8, 7], "worker": [1, 2, 1, 1], "label": [0, 1, 1, 0]}
    said = []
    for least in (10**9, 0):
        monkeypatch.setattr(prepared, "_WORTH_LOADING", least)
        with pytest.raises(InvalidInput) as caught:
            LabelAggregation(labels=table)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "row 3" in said[0]


def test_few_labels_never_wait_for_a_compiler() -> None:
    assert not prepared.ready_for(100_000)
