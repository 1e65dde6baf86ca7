"""The compiled way from a table to an answer against the way without a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import optiframe_rankone
import pandas as pd
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.completion.counted_pairs import CountedCorrelations, CountedLeastSquares, CountedPairs
from optiframe_rankone.completion.from_labels import LabelLeastSquares
from optiframe_rankone.completion.pairs import of_entries
from optiframe_rankone.kernels import passes, prepared, text
from optiframe_rankone.kernels.count_table import NARROW, WIDE, CountTable
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust import intervals

import optiframe
from optiframe.errors import InvalidInput
from optiframe.tables.read import encode

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


@given(st.lists(st.text(st.sampled_from("ab\0 é日"), max_size=12), min_size=1, max_size=60))
@settings(max_examples=60)
def test_codes_of_text_are_those_of_encode(texts: list[str]) -> None:
    codes, first, keys = prepared.text_codes(*letters(texts))
    assert [texts[row] for row in first] == list(dict.fromkeys(texts))
    assert [texts[first[code]] for code in codes] == texts
    told = sorted(zip(keys.tolist(), (texts[row] for row in first), strict=True))
    assert [text for _, text in told] == sorted(set(texts))  # equal keys tell nothing


def letters(texts: list[str]) -> tuple[Any, Any]:
    """Where each text starts, and all of them, as Arrow keeps them."""
    each = [text.encode() for text in texts]
    start = np.concatenate([[0], np.cumsum([len(one) for one in each])])
    return start, np.frombuffer(b"".join(each), dtype=np.uint8)


def test_texts_beyond_the_first_table_of_keys_are_told_apart() -> None:
    texts = [f"{number % 5000:x}" + "z" * (number % 9) for number in range(20_000)]
    codes, first, _ = prepared.text_codes(*letters(texts))
    assert len(first) == len(set(texts))
    assert [texts[first[code]] for code in codes] == texts


@pytest.mark.parametrize("kind", ["string", "large_string"])
@pytest.mark.parametrize(
    "pool", [["b", "a", "", "a\0"], ["task_10", "task_9", "t"], ["é", "z", "日", "aaaaaaaab"]]
)
def test_columns_of_text_get_sorted_ids(monkeypatch: pytest.MonkeyPatch, kind: str, pool: list[str]) -> None:
    monkeypatch.setattr(prepared, "_WORTH_LOADING", 0)
    texts = pool[::-1] + pool + pool
    column = pyarrow.array(["before", *texts, "after"], type=kind)[1:-1]
    found = text.coded(column)
    assert found is not None
    assert found.ids.tolist() == sorted(pool)
    assert found.values.tolist() == texts


def test_other_columns_and_long_texts_are_left_to_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    assert text.coded(pyarrow.array(["a", "b"])) is None  # too few
    monkeypatch.setattr(prepared, "_WORTH_LOADING", 0)
    for column in (["a", None], [1, 2], ["a" * 8, "b" * 8], []):
        assert text.coded(pyarrow.array(column)) is None


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1), st.randoms())
@settings(max_examples=30)
def test_labels_are_sorted_by_task_and_worker(cells: set[tuple[int, int]], random: Any) -> None:
    rows = list(cells)
    random.shuffle(rows)
    task, worker = np.array(rows).T
    label = np.arange(len(rows))  # says which row it was
    order = passes.order(task * 5 + worker)
    for classes in (len(rows), 2**40):  # as numbers of 32 bits, and of 64
        found = prepared.sorted_labels(task, worker, label, tasks=6, workers=5, classes=classes)
        assert found is not None
        for ours, column in zip(found[:3], (task, worker, label), strict=True):
            assert np.array_equal(ours, column[order])
        assert np.array_equal(found.per_task, np.bincount(task, minlength=6))
        assert np.array_equal(found.per_worker, np.bincount(worker, minlength=5))
    again = (np.append(column, column[0]) for column in (task, worker, label))
    assert prepared.sorted_labels(*again, tasks=6, workers=5, classes=len(rows)) is None


def test_codes_too_long_for_one_number_are_left_to_numpy() -> None:
    one = np.zeros(1, dtype=np.int32)
    assert prepared.sorted_labels(one, one, one, tasks=1, workers=1, classes=2**64) is None


@pytest.mark.parametrize("width", [NARROW, WIDE])
@given(problem=label_sets())
@settings(max_examples=30)
def test_compiled_counts_equal_a_loop_over_pairs_of_labels(width: Any, problem: LabelAggregation) -> None:
    table = CountTable.empty(len(problem.labels.worker_ids), width)
    slow_shared, _ = co_occurrence(problem)
    assert table.add(*codes(problem)) == slow_shared.sum() / 2 == table.shared.sum()
    shared, agreed = table.entries()
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
    assert np.array_equal(votes, passes.vote(task, worker, label, x, tasks=tasks, classes=classes))
    pull, curvature = prepared.pulls_of_labels(task, worker, label, classes=classes, x=x)
    slow_pull, others = intervals._plain_pulls(problem.crowd, x)
    assert pull == pytest.approx(slow_pull, rel=1e-10, abs=1e-10)
    assert curvature == pytest.approx(np.bincount(worker, others, workers), rel=1e-10, abs=1e-10)
    count = problem.labels_per_worker
    means = np.bincount(worker, pull, workers) / count
    spread = np.bincount(worker, (pull - means[worker]) ** 2, workers)
    squares, again = prepared.spread_of_pulls(task, worker, label, classes=classes, x=x, count=count)
    assert squares == pytest.approx(spread, rel=1e-10, abs=1e-10)
    assert np.array_equal(again, curvature)
    fit = problem.formulation.problem.least_squares  # type: ignore[union-attr]  # it always formulates
    cost = prepared.weighted_misses(fit.known, fit.targets.data, x) / 4
    assert cost == pytest.approx(of_entries(fit.known, fit.targets).cost(x), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("tasks", "busy"), [(255, 255), (256, 256), (5000, 300), (5000, 5000)])
def test_counters_never_run_over(tasks: int, busy: int) -> None:
    # Two workers who share `busy` tasks: the last ones, so that the first say nothing of them.
    task = np.repeat(np.arange(tasks), 2)
    worker = np.tile([0, 1], tasks)
    worker[1 : 2 * (tasks - busy) : 2] = 2 + np.arange(tasks - busy) % 50
    label = np.tile([1, 1, 0, 1], tasks)[: 2 * tasks]
    table = CountTable.of_labels(task, worker, label, 52)
    shared, agreed = table.entries()
    assert shared[0, 1] == busy
    assert shared.sum() == 2 * tasks
    assert agreed.sum() == 2 * np.count_nonzero(label[::2] == label[1::2])
    assert table.counts.dtype == (NARROW if busy <= 255 else WIDE)


@given(label_sets(), st.integers(0, 100))
@settings(max_examples=30)
def test_a_table_of_counts_gives_the_objective_of_its_matrices(problem: LabelAggregation, seed: int) -> None:
    fit, workers = problem.formulation.problem.least_squares, len(problem.labels.worker_ids)  # type: ignore[union-attr]  # it always formulates
    table = CountTable.of_labels(*codes(problem), workers)
    counted = CountedCorrelations.of_table(
        table, len(problem.classes), *problem.box, graph=problem.worker_graph
    )
    x, v = np.random.default_rng(seed).normal(size=(2, workers))
    mine = counted.least_squares
    assert mine.value(x) == pytest.approx(fit.value(x), rel=1e-10, abs=1e-10)
    assert mine.gradient(x) == pytest.approx(fit.gradient(x), rel=1e-10, abs=1e-10)
    assert mine.hessian_product(x, v) == pytest.approx(fit.hessian_product(x, v), rel=1e-10, abs=1e-10)
    assert np.array_equal(mine.known.toarray(), fit.known.toarray())
    assert np.array_equal(mine.targets.toarray(), fit.targets.toarray())
    assert counted.lipschitz() == pytest.approx(problem.formulation.problem.lipschitz())  # type: ignore[union-attr]  # as above
    assert np.array_equal(mine.pairs.component, CountedPairs(table, len(problem.classes)).component)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"counts": np.zeros(3, dtype=np.uint16)}, "other pairs than 3"),
        ({"counts": np.zeros(1)}, "table of counts"),
    ],
)
def test_wrong_counts_are_refused_in_words(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        CountedLeastSquares(**{"counts": np.ones(1, dtype=np.uint16), "workers": 2, "classes": 2} | changed)


@pytest.mark.parametrize(("classes", "tasks"), [(2, 150), (3, 150), (2, 2500), (3, 2500)])
@pytest.mark.parametrize("ids", ["numbers", "text"])
def test_both_ways_give_one_answer(
    monkeypatch: pytest.MonkeyPatch, classes: int, tasks: int, ids: str
) -> None:
    skills = np.random.default_rng(5).uniform(-0.2, 0.9, size=310)  # too many for joint errors
    inputs = single_coin(3, skills, tasks, per_task=6, classes=classes)
    frame = pd.DataFrame(inputs["labels"]).sample(frac=1.0, random_state=1)
    frame = frame.astype(TEXT) if ids == "text" else frame
    results = []
    for least in (10**9, 0):
        monkeypatch.setattr(prepared, "_WORTH_LOADING", least)
        problem = LabelAggregation(labels=frame)
        result = optiframe.solve(problem, "rankone.pgd", progress=False)
        results.append((problem, result, intervals.standard_errors(problem, result.solution)))
    (one, first, errors), (two, second, compiled_errors) = results
    for name in ("task", "worker", "label", "task_ids", "worker_ids", "label_ids"):
        assert np.array_equal(getattr(one.labels, name), getattr(two.labels, name))
    counted = isinstance(two.formulation.problem, CountedCorrelations)  # type: ignore[union-attr]  # as above
    assert counted == (tasks > 150)  # where most workers share tasks
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


def test_workers_in_any_order_within_a_task_are_counted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_WORTH_LOADING", 1)
    labels: dict[str, Any] = {
        "task": np.array([0, 0, 0, 1, 1, 2, 2]),
        "worker": np.array([2, 0, 1, 1, 0, 2, 0]),
        "label": np.array([0, 1, 0, 0, 0, 1, 1]),
    }
    objective = LabelLeastSquares(**labels, workers=3, classes=2)
    assert objective.known.toarray().tolist() == [[0, 2, 2], [2, 0, 1], [2, 1, 0]]
    assert objective.targets.toarray().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_unsigned_codes_of_tasks_out_of_order_are_refused() -> None:
    task, code = np.array([1, 0], dtype=np.uint32), np.array([0, 1])
    with pytest.raises(InvalidInput, match="in order of tasks"):
        LabelLeastSquares(task=task, worker=code, label=code, workers=2, classes=2)
