"""Compiled passes over labels and pairs of workers against plain NumPy and loops, and the worker graph."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from optiframe_rankone.answer import softmax
from optiframe_rankone.completion.counts import co_occurrence, correlation_table, correlations_of
from optiframe_rankone.kernels import labels as label_kernels
from optiframe_rankone.kernels import pairs as pair_kernels
from optiframe_rankone.kernels import reference
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.text import coded
from optiframe_rankone.worker_graph import WorkerGraph

from optiframe.native import native
from optiframe.testing import check_changes_meanwhile, check_interruptible, check_kernel, check_refusals

from . import slow
from .slow import components, single_coin, two_colourable

TINY = 1e-14  # of the largest of some numbers: sums in another order
NEAR = 1e-9  # where such sums are divided by others, and what follows builds on it


@st.composite
def label_sets(draw: st.DrawFn) -> LabelAggregation:
    """Small problems: up to 8 tasks, 7 workers, 3 classes, at least two of them used."""
    cells = draw(
        st.dictionaries(
            st.tuples(st.integers(0, 7), st.integers(0, 6)), st.integers(0, 2), min_size=2, max_size=20
        ).filter(lambda cells: len(set(cells.values())) > 1)
    )
    task, worker = zip(*cells, strict=True)
    return LabelAggregation(labels={"task": task, "worker": worker, "label": list(cells.values())})


def codes(tasks: int, workers: int, classes: int, seed: int) -> dict[str, Any]:
    """Labels by task: some tasks and workers have none, one worker has most tasks."""
    rng = np.random.default_rng(seed)
    said = rng.random((tasks, workers)) < rng.random((tasks, 1)) ** 2
    said[:, :1] |= rng.random((tasks, 1)) < 0.8
    task, worker = np.nonzero(said)
    return {
        "first": np.concatenate([[0], np.cumsum(np.bincount(task, minlength=tasks))]),
        "worker": worker.astype(np.int32),
        "label": rng.integers(classes, size=len(task)).astype(np.int32),
    }


sizes = given(
    tasks=st.integers(0, 30), workers=st.integers(1, 40), classes=st.integers(2, 4), seed=st.integers(0, 99)
)
nothing = example(tasks=0, workers=1, classes=2, seed=0)
alone = example(tasks=1, workers=1, classes=2, seed=0)


def skills(workers: int, seed: int) -> np.ndarray:
    """Of every size and sign, among them 0."""
    rng = np.random.default_rng(seed)
    return rng.choice([0.0, 1e-9, 0.5, 1.0, 1e3], workers) * rng.uniform(-1, 1, workers)


@given(st.lists(st.integers(-20, 20) | st.integers(-(2**63), 2**63 - 1), max_size=60))
@example([])
@example([-(2**63), 2**63 - 1])
def test_codes_of_numbers_are_those_of_numpy(values: list[int]) -> None:
    check_kernel(reference.encode, {"values": np.array(values, dtype=np.int64)})


@pytest.mark.parametrize("apart", [1, 3, 4, 5, 10**12])
def test_many_numbers_are_coded_alike_however_far_apart_they_are(apart: int) -> None:
    values = np.random.default_rng(apart).integers(-500, 5000, 20_000) * apart
    check_kernel(reference.encode, {"values": values})


def as_arrow_keeps_them(texts: list[str]) -> dict[str, Any]:
    """Where each text begins, and the letters of all."""
    each = [text.encode() for text in texts]
    start = np.concatenate([[0], np.cumsum([len(one) for one in each], dtype=np.int64)])
    return {"start": start, "letters": np.frombuffer(b"".join(each), dtype=np.uint8).copy()}


@given(st.lists(st.text(st.sampled_from("ab\0 é日"), max_size=12), max_size=60))
@example([])
@example(["", "a", "a\0", "a\0\0\0\0\0\0\0", "aaaaaaa", "aaaaaaaa", "aaaaaaaab", "aaaaaaaa"])
def test_codes_of_texts_follow_their_letters(texts: list[str]) -> None:
    codes, first = check_kernel(reference.encode_texts, as_arrow_keeps_them(texts))
    ids = [texts[row] for row in first]
    assert ids == sorted(set(texts))
    assert [ids[code] for code in codes] == texts


def test_many_texts_are_told_apart_and_so_are_those_that_share_a_beginning() -> None:
    numbers = np.random.default_rng(0).integers(5000, size=20_000)
    for texts in ([f"{number:x}" for number in numbers], [f"worker_{number}_of_many" for number in numbers]):
        check_kernel(reference.encode_texts, as_arrow_keeps_them(texts))


def test_texts_beyond_the_letters_are_refused() -> None:
    letters = np.frombuffer(b"abcd", dtype=np.uint8).copy()
    kernel = native(reference.encode_texts)
    if kernel is reference.encode_texts:
        return  # NumPy does not reach out of bounds
    for start in ([], [0], [0, 5], [0, 3], [1, 4], [0, 3, 2, 4], [0, -1, 4], [0, 2**62, 4]):
        with pytest.raises(ValueError, match="start does not divide 4 entries"):
            kernel(np.array(start, dtype=np.int64), letters)
    with pytest.raises(TypeError):
        kernel(np.array([0, 4]), letters.astype(np.int8))


@pytest.mark.parametrize("kind", ["string", "large_string"])
@pytest.mark.parametrize(
    "pool", [["b", "a", "", "a\0"], ["task_10", "task_9", "t"], ["é", "z", "日", "aaaaaaaab"]]
)
def test_columns_of_text_get_sorted_ids(kind: str, pool: list[str]) -> None:
    texts = pool[::-1] + pool + pool
    column = pyarrow.array(["before", *texts, "after"], type=kind)[1:-1]
    found = coded(column)
    assert found is not None
    assert found.ids.tolist() == sorted(pool)
    assert found.values.tolist() == texts


def test_other_columns_are_left_to_arrow() -> None:
    for column in (["a", None], [1, 2], []):
        assert coded(pyarrow.array(column)) is None
    assert coded(pyarrow.chunked_array([["a"], ["b"]])) is None


@given(
    cells=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=60),
    more=st.integers(0, 3),
)
def test_labels_are_sorted_by_task_and_worker_and_equal_ones_keep_their_order(
    cells: list[tuple[int, int]], more: int
) -> None:
    task, worker = np.array(cells, dtype=np.int32).reshape(-1, 2).T.copy()
    label = np.arange(len(task), dtype=np.int32)  # says which row it was
    sizes = {"tasks": 6 + more, "workers": 5}
    check_kernel(reference.sort_labels, {"task": task, "worker": worker, "label": label, **sizes})


@sizes
@nothing
@alone
def test_votes_are_those_of_numpy_bit_for_bit(tasks: int, workers: int, classes: int, seed: int) -> None:
    labels = codes(tasks, workers, classes, seed)
    check_kernel(reference.vote, {**labels, "weight": skills(workers, seed), "classes": classes})


@sizes
@nothing
@alone
def test_counts_of_pairs_are_those_of_matrix_products(
    tasks: int, workers: int, classes: int, seed: int
) -> None:
    labels = codes(tasks, workers, classes, seed)
    check_kernel(reference.count_pairs, {**labels, "workers": workers})
    check_kernel(reference.count_table, {**labels, "workers": workers, "classes": classes})


def test_a_worker_of_more_tasks_than_sixteen_bits_count_is_counted() -> None:
    """Counts are kept in 32 bits where no worker has 2^16 labels, and in 64 elsewhere."""
    for tasks in (2**16 - 1, 2**16, 2**16 + 1):
        labels = {
            "first": 2 * np.arange(tasks + 1),
            "worker": np.tile(np.arange(2, dtype=np.int32), tasks),
            "label": np.zeros(2 * tasks, np.int32),
        }
        check_kernel(reference.count_table, {**labels, "workers": 3, "classes": 2})


@pytest.mark.slow
def test_pairs_of_many_workers_are_counted_in_rounds() -> None:
    """Ten million pairs of labels on two long tasks, more than one round takes, and short tasks besides."""
    short = np.sort(np.random.default_rng(0).permutation(100_000)[:20_000].reshape(-1, 2), axis=1)
    worker = np.concatenate([np.arange(4200), np.arange(0, 4000, 2), short.ravel()])
    ends = np.concatenate([[0, 4200, 6200], 6200 + 2 * np.arange(1, 10_001)])
    label = (np.arange(len(worker)) % 3).astype(np.int32)
    labels = {"first": ends, "worker": worker.astype(np.int32), "label": label}
    check_kernel(reference.count_pairs, {**labels, "workers": 100_000})


@sizes
@nothing
@alone
def test_misses_are_those_of_numpy(tasks: int, workers: int, classes: int, seed: int) -> None:
    start, column, known, _ = reference.count_pairs(**codes(tasks, workers, classes, seed), workers=workers)
    target, x = np.random.default_rng(seed).normal(size=len(column)), skills(workers, seed)
    pairs = {"start": start, "column": column, "known": known, "target": target, "x": x}
    check_kernel(reference.misses, pairs, rtol=TINY)


@sizes
@nothing
@alone
def test_sweeps_are_those_of_a_loop_over_rows(tasks: int, workers: int, classes: int, seed: int) -> None:
    labels = codes(tasks, workers, classes, seed)
    start, column, known, _ = reference.count_pairs(**labels, workers=workers)
    rng = np.random.default_rng(seed)
    weighted = known * rng.normal(size=len(column))
    bounds = {"lower": np.full(workers, -rng.random()), "upper": np.full(workers, rng.random())}
    pairs = {"start": start, "column": column, "known": known, "weighted": weighted}
    x = rng.uniform(-1, 1, workers) * rng.integers(0, 2, workers)
    check_kernel(reference.sweep, {**pairs, "x": x, **bounds}, rtol=NEAR)
    shape = (workers, workers)
    known, weighted = (sp.csr_array((each, column, start), shape).toarray() for each in (known, weighted))
    check_kernel(reference.sweep_dense, {"known": known, "weighted": weighted, "x": x, **bounds}, rtol=NEAR)


@sizes
@nothing
@alone
def test_products_of_labels_are_those_of_numpy(tasks: int, workers: int, classes: int, seed: int) -> None:
    labels, x = codes(tasks, workers, classes, seed), skills(workers, seed)
    check_kernel(reference.label_pulls, {**labels, "x": x, "classes": classes}, rtol=TINY)
    check_kernel(reference.label_weights, {"first": labels["first"], "worker": labels["worker"], "x": x})
    for kept in (0, len(labels["worker"])):
        pulls = {**labels, "x": x, "classes": classes, "pull": np.zeros(kept)}
        check_kernel(reference.task_pulls, pulls, rtol=TINY)


@given(label_sets(), st.integers(0, 9))
@settings(max_examples=50)
@pytest.mark.slow
def test_references_equal_loops_over_labels(problem: LabelAggregation, seed: int) -> None:
    labels, m = problem.labels, len(problem.classes)
    said = {"first": labels.first, "worker": labels.worker, "label": problem.label_codes}
    shared, agreed = slow.co_occurrence(problem)
    x = np.random.default_rng(seed).normal(size=len(shared))
    correlation = np.where(shared > 0, (m * agreed / np.maximum(shared, 1) - 1) / (m - 1), 0.0)
    table = reference.count_table(**said, workers=len(x), classes=m)
    assert np.array_equal(table[0], shared)
    assert table[1] == pytest.approx(correlation)
    start, column, *known = reference.count_pairs(**said, workers=len(x))
    target = np.ones(len(column))
    rows, columns = np.nonzero(shared)
    assert np.array_equal(column, columns)
    expected_misses = (shared[rows, columns] * (1.0 - x[rows] * x[columns]) ** 2).sum()
    assert reference.misses(start, column, known[0], target, x) == pytest.approx(expected_misses)
    products = (m * agreed - shared) / (m - 1)
    pull, curvature = reference.label_pulls(**said, x=x, classes=m)
    assert pull == pytest.approx(products @ x, abs=1e-10)
    assert curvature == pytest.approx(shared @ x**2, abs=1e-10)
    assert reference.label_weights(said["first"], said["worker"], x) == pytest.approx(shared @ x, abs=1e-10)
    each = np.zeros(len(labels))
    sums = reference.task_pulls(**said, x=x, classes=m, pull=each)
    gradient = products @ x - x * (shared @ x**2)
    for found, expected in zip(sums[:2], (shared @ x**2, gradient), strict=True):
        assert found == pytest.approx(expected, abs=1e-10)
    assert np.bincount(labels.worker, each**2) == pytest.approx(sums[2], abs=1e-10)


@given(label_sets())
def test_shared_and_agreed_counts_equal_a_loop_over_pairs_of_labels(problem: LabelAggregation) -> None:
    labels = problem.labels
    said = labels.first, labels.worker, problem.label_codes, len(labels.worker_ids)
    shared, agreed = co_occurrence(*said)
    slow_shared, slow_agreed = slow.co_occurrence(problem)
    assert np.array_equal(shared.toarray(), slow_shared)
    assert shared.has_sorted_indices
    assert np.array_equal(agreed, slow_agreed[np.nonzero(slow_shared)])
    found = correlation_table(*said, len(problem.classes))
    assert np.array_equal(found[0], slow_shared)
    assert np.array_equal(found[1], correlations_of(slow_shared, slow_agreed, len(problem.classes)))


@given(label_sets(), st.integers(0, 100))
def test_votes_equal_a_loop_over_labels(problem: LabelAggregation, seed: int) -> None:
    weight = np.random.default_rng(seed).normal(size=len(problem.labels.worker_ids))
    assert problem.vote(weight, "log-odds").scores == pytest.approx(slow.vote(problem, weight))


def all_arguments(tasks: int = 9, workers: int = 7) -> list[tuple[Any, dict[str, Any]]]:
    """Every kernel with arguments that it takes."""
    labels, x = codes(tasks, workers, 3, 1), skills(workers, 1)
    start, column, known, _ = reference.count_pairs(**labels, workers=workers)
    task = np.repeat(np.arange(tasks, dtype=np.int32), np.diff(labels["first"]))
    said = {name: labels[name] for name in ("worker", "label")}
    sizes = {"tasks": tasks, "workers": workers}
    pairs = {"start": start, "column": column, "known": known, "target": np.ones(len(known)), "x": x}
    last = {"x": x, "lower": np.full(workers, -1.0), "upper": np.ones(workers)}
    sweep = {"start": start, "column": column, "known": known, "weighted": 0.5 * known, **last}
    dense = {name: np.full((workers, workers), 0.5) for name in ("known", "weighted")}
    return [
        (reference.encode, {"values": np.array([5, 3, 5, 2**40])}),
        (reference.encode, {"values": 3 * np.repeat(task[::-1], 8).astype(np.int64)}),
        (reference.encode_texts, as_arrow_keeps_them([f"task number {k} of many" for k in task[::-1]])),
        (reference.sort_labels, {"task": task[::-1].copy(), **said, **sizes}),
        (reference.count_codes, {"codes": said["worker"], "count": workers}),
        (reference.vote, {**labels, "weight": x, "classes": 3}),
        (reference.count_pairs, {**labels, "workers": workers}),
        (reference.count_table, {**labels, "workers": workers, "classes": 3}),
        (reference.misses, pairs),
        (reference.sweep, sweep),
        (reference.sweep_dense, {**dense, **last}),
        (reference.label_pulls, {**labels, "x": x, "classes": 3}),
        (reference.label_weights, {"first": labels["first"], "worker": labels["worker"], "x": x}),
        (reference.task_pulls, {**labels, "x": x, "classes": 3, "pull": np.zeros(len(task))}),
    ]


@pytest.mark.parametrize(
    ("kernel", "arguments"), all_arguments(), ids=lambda each: getattr(each, "__name__", "")
)
def test_wrong_arguments_are_refused_and_crash_nothing(kernel: Any, arguments: dict[str, Any]) -> None:
    check_kernel(kernel, arguments, rtol=TINY)
    counted = {
        reference.sort_labels: {"label"},
        reference.count_pairs: {"label"},
        reference.count_table: {"label"},
    }
    check_refusals(
        kernel,
        arguments,
        # As many tasks and workers as one likes.
        any_length={"values", "codes", "start", "first", "weight", "x"},
        any_number={"values", "letters"} | counted.get(kernel, set()),
        optional={"pull"},
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "arguments"), all_arguments(20_000, 12), ids=lambda each: getattr(each, "__name__", "")
)
def test_arrays_that_another_thread_changes_crash_nothing(kernel: Any, arguments: dict[str, Any]) -> None:
    check_changes_meanwhile(kernel, arguments)


def test_two_threads_at_once_get_the_same_answers() -> None:
    labels, x = codes(2000, 60, 3, 5), skills(60, 5)

    def run(_: int) -> list[np.ndarray]:
        counts = pair_kernels.count_pairs(**labels, workers=60)
        pulls = pair_kernels.label_pulls(**labels, x=x, classes=3)
        return [*counts, *pulls, label_kernels.vote(**labels, weight=x, classes=3)]

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(run, range(8)):
            for one, other in zip(found, run(0), strict=True):
                assert np.array_equal(one, other)


# A pass of NumPy ends before Ctrl-C does anything: without the extension passes are short ones.
FEWER = 100 if native(reference.encode) is reference.encode else 1
LONG = """
import numpy as np
from optiframe_rankone.kernels import labels, pairs
rng = np.random.default_rng(0)
"""
ONE_TASK = """
n = {n} // FEWER
first, worker = np.array([0, n]), np.arange(n, dtype=np.int32)
label, x = np.zeros(n, np.int32), np.ones(n)
"""
MANY = """
n = 40_000_000 // FEWER
first, worker = np.arange(0, n + 1, 4), rng.integers(0, 1_000_000, n, dtype=np.int32)
label, x = np.zeros(n, np.int32), np.ones(1_000_000)
"""
SCATTERED = "values = rng.integers(0, 2**60, 30_000_000 // FEWER)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        ONE_TASK.format(n=100_000) + "print('ready')\nwhile True: pairs.count_pairs(first, worker, label, n)",
        ONE_TASK.format(n=200_000) + "print('ready')\nwhile True: pairs.count_pairs(first, worker, label, n)",
        ONE_TASK.format(n=6_000)
        + "print('ready')\nwhile True: pairs.count_table(first, worker, label, n, 2)",
        SCATTERED + "print('ready')\nwhile True: labels.encode(values)",
        MANY + "print('ready')\nwhile True: pairs.label_pulls(first, worker, label, x, 2)",
        MANY + "print('ready')\nwhile True: labels.sort_labels(worker, worker, label, 1_000_000, 1_000_000)",
    ],
)
def test_ctrl_c_ends_long_kernels(code: str) -> None:
    check_interruptible(f"{LONG}FEWER = {FEWER}\n{code}")


@given(label_sets())
@settings(max_examples=100)
@pytest.mark.slow
def test_components_and_bipartiteness_equal_a_search_on_the_full_graph(problem: LabelAggregation) -> None:
    graph = problem.worker_graph
    edges = slow.co_occurrence(problem)[0] > 0
    for members in components(edges):
        inside = sorted(members)
        assert len(set(graph.component[inside].tolist())) == 1
        assert (graph.component == graph.component[inside[0]]).sum() == len(inside)
        alone = len(inside) == 1
        assert graph.isolated[inside].tolist() == [alone] * len(inside)
        expected = not alone and two_colourable(edges, members)
        assert graph.bipartite[inside].tolist() == [expected] * len(inside)


def test_an_odd_ring_of_pairs_is_not_bipartite_and_an_even_one_is() -> None:
    for size, bipartite in ((5, False), (6, True)):
        task = np.repeat(np.arange(size), 2)
        worker = np.array([[i, (i + 1) % size] for i in range(size)]).ravel()
        assert WorkerGraph.of_labels(task, worker, size).bipartite.tolist() == [bipartite] * size


@pytest.mark.parametrize("kind", ["all", "two groups", "two sides", "one alone"])
def test_a_graph_of_many_pairs_is_that_of_a_few_of_them(kind: str) -> None:
    joined = np.ones((60, 60)) - np.eye(60)
    side = np.arange(60) < 30
    if kind == "two groups":
        joined[side[:, None] != side] = 0
    elif kind == "two sides":
        joined[side[:, None] == side] = 0
    elif kind == "one alone":
        joined[7] = joined[:, 7] = 0
    few, whole = WorkerGraph.of_pairs(sp.csr_array(joined)), WorkerGraph(sp.csr_array(joined))
    assert (few.edges.nnz < whole.edges.nnz) == (kind == "all")
    for name in ("component", "isolated", "bipartite"):
        assert (getattr(few, name) == getattr(whole, name)).all()


def test_expected_hits_equal_a_loop() -> None:
    problem = LabelAggregation(**single_coin(0, np.full(5, 0.5), tasks=12, per_task=3, classes=3))
    posterior = softmax(np.random.default_rng(1).normal(size=(12, 3)))
    labels, expected = problem.labels, np.zeros(5)
    for task, worker, label in zip(labels.task, labels.worker, problem.label_codes, strict=True):
        expected[worker] += posterior[task, label]
    assert problem.crowd.expected_hits(posterior) == pytest.approx(expected)
