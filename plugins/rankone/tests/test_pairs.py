"""Pairs of workers kept dense, sparse, or in the labels: the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.completion.counts import co_occurrence, correlation_table, correlations_of
from optiframe_rankone.completion.from_labels import LabelCorrelations, LabelLeastSquares
from optiframe_rankone.completion.label_pairs import LabelPairs
from optiframe_rankone.completion.pairs import DensePairs, Pairs, SparsePairs
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import InvalidInput
from optiframe.testing import check_derivatives

from . import slow as loops
from .slow import coin
from .test_kernels import label_sets

NEAR = 1e-10


def counted(problem: LabelAggregation) -> tuple[sp.csr_array, sp.csr_array]:
    """N and C of a label set as sparse matrices."""
    labels = problem.labels
    known, agreed = co_occurrence(labels.first, labels.worker, problem.label_codes, len(labels.worker_ids))
    values = correlations_of(known.data, agreed, len(problem.classes))
    return known, sp.csr_array((values, known.indices, known.indptr), known.shape)


def all_kinds(problem: LabelAggregation) -> dict[str, Pairs]:
    """The pairs of a label set in every way they can be kept."""
    labels, classes = problem.labels, len(problem.classes)
    workers = len(labels.worker_ids)
    codes = labels.task, labels.worker, problem.label_codes
    sizes = {"tasks": len(labels.task_ids), "workers": workers, "classes": classes}
    tables = correlation_table(labels.first, labels.worker, problem.label_codes, workers, classes)
    return {
        "dense": DensePairs(*tables),
        "sparse": SparsePairs(*counted(problem)),
        "labels": LabelPairs(*codes, **sizes),
    }


def from_labels(problem: LabelAggregation) -> LabelCorrelations:
    """The completion without a matrix, whatever the size."""
    lower, upper = problem.box
    products = LabelLeastSquares(
        task=problem.labels.task,
        worker=problem.labels.worker,
        label=problem.label_codes,
        workers=len(problem.labels.worker_ids),
        classes=len(problem.classes),
    )
    return LabelCorrelations(products=products, lower=lower, upper=upper)


@pytest.mark.slow
@given(label_sets(), st.integers(0, 100))
@settings(max_examples=30)
def test_all_kinds_of_pairs_agree_with_the_loops(problem: LabelAggregation, seed: int) -> None:
    shared, agreed = loops.co_occurrence(problem)
    m = len(problem.classes)
    x = np.random.default_rng(seed).normal(size=len(shared))
    products = (m * agreed - shared) / (m - 1)
    for kind, pairs in all_kinds(problem).items():
        assert pairs.weights(x) == pytest.approx(shared @ x, abs=NEAR), kind
        assert pairs.products(x) == pytest.approx(products @ x, abs=NEAR), kind
        pull, curvature = pairs.pulls(x)
        assert pull == pytest.approx(products @ x, abs=NEAR), kind
        assert curvature == pytest.approx(shared @ (x * x), abs=NEAR), kind
        members = np.flatnonzero(pairs.component == pairs.component[0])
        assert pairs.block(members) == pytest.approx(products[np.ix_(members, members)], abs=NEAR), kind
        assert (pairs.absolute_sums() >= np.abs(products).sum(axis=1) - NEAR).all(), kind


@pytest.mark.slow
@given(label_sets(), st.integers(0, 100))
@settings(max_examples=30)
def test_all_kinds_of_pairs_sweep_to_the_same_point(problem: LabelAggregation, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, len(problem.labels.worker_ids))
    lower, upper = -rng.random(len(x)), rng.random(len(x))
    shared, agreed = loops.co_occurrence(problem)
    m = len(problem.classes)
    products, slow = (m * agreed - shared) / (m - 1), x.copy()
    for i in range(len(x)):
        if shared[i].any():
            slow[i] = np.clip(products[i] @ slow / (shared[i] @ slow**2), lower[i], upper[i])
    for kind, pairs in all_kinds(problem).items():
        swept, largest = pairs.sweep(x, lower, upper)
        assert swept == pytest.approx(slow, abs=1e-9), kind
        assert largest == pytest.approx(np.abs(slow - x).max(), abs=1e-9), kind


@pytest.mark.slow
@given(label_sets(), st.integers(0, 100))
@settings(max_examples=30)
def test_the_objective_from_labels_differs_by_the_constant_of_lemma_6(
    problem: LabelAggregation, seed: int
) -> None:
    labels, m = problem.labels, len(problem.classes)
    x = np.random.default_rng(seed).normal(size=len(labels.worker_ids))
    kinds = all_kinds(problem)
    slow = 0.0  # Eq. 2, by loops over pairs of labels
    for a in range(len(labels)):
        for b in range(a):
            if labels.task[a] == labels.task[b]:
                product = 1.0 if problem.label_codes[a] == problem.label_codes[b] else -1 / (m - 1)
                slow += (product - x[labels.worker[a]] * x[labels.worker[b]]) ** 2 / 2
    assert kinds["labels"].cost(x) == pytest.approx(slow, abs=NEAR)
    constant = kinds["labels"].cost(0 * x) - kinds["dense"].cost(0 * x)
    assert kinds["dense"].cost(x) + constant == pytest.approx(slow, abs=NEAR)
    assert kinds["sparse"].cost(x) == pytest.approx(kinds["dense"].cost(x), abs=NEAR)


def test_derivatives_from_labels_agree_with_finite_differences() -> None:
    problem = from_labels(coin(3, np.full(6, 0.5), tasks=30, per_task=3))
    check_derivatives(problem.least_squares, np.random.default_rng(4).normal(size=6))


def test_bounds_on_the_curvature_hold_within_the_box() -> None:
    problem = coin(3, np.full(6, 0.5), tasks=40, per_task=3, classes=3)
    rng = np.random.default_rng(1)
    for completion in (problem.formulation.problem, from_labels(problem)):  # type: ignore[union-attr]
        lower, upper = completion.bounds
        for _ in range(50):
            x = rng.uniform(lower, upper)
            hessian = np.array([completion.least_squares.hessian_product(x, v) for v in np.eye(6)])
            assert np.linalg.eigvalsh(hessian).max() <= completion.lipschitz()


@pytest.mark.parametrize("solver", ["rankone.pgd", "rankone.coordinate", "rankone.exponentiated"])
@pytest.mark.parametrize("low", [0.2, -0.6])
def test_solvers_reach_the_same_answer_without_counting_pairs(solver: str, low: float) -> None:
    skills = np.random.default_rng(2).uniform(low, 0.7, 12)
    labels = coin(2, skills, tasks=150, per_task=4)
    counted = optiframe.solve(labels.formulation.problem, solver)  # type: ignore[union-attr]
    left = optiframe.solve(from_labels(labels), solver)
    assert left.status == counted.status == "converged"
    assert left.iterations == counted.iterations
    assert left.solution == pytest.approx(counted.solution, abs=NEAR)


def test_a_group_that_mostly_disagrees_starts_at_the_eigenvector_without_counting_pairs() -> None:
    # Three who agree, and a pair elsewhere who always disagree: only the pair is refuted.
    task = [*np.repeat(np.arange(6), 3), *np.repeat(np.arange(6, 12), 2)]
    worker = [*[0, 1, 2] * 6, *[3, 4] * 6]
    label = [*np.repeat([0, 1] * 3, 3), *[0, 1] * 6]
    problem = LabelAggregation(labels={"task": task, "worker": worker, "label": label})
    counted = problem.formulation.problem.initial()  # type: ignore[union-attr]
    start = from_labels(problem).initial()
    assert start[:3] == pytest.approx([0.5] * 3)
    assert start[3] == pytest.approx(-start[4])
    assert np.abs(start) == pytest.approx(np.abs(counted))


def test_a_large_group_that_mostly_disagrees_starts_there_too() -> None:
    # A ring of more workers than are handled by a dense eigenvalue solver, each disagreeing with the next.
    size = 301
    ring = np.arange(size)
    worker = np.column_stack([ring, (ring + 1) % size]).ravel()
    labels = {"task": np.repeat(ring, 2), "worker": worker, "label": [0, 1] * size}
    problem = LabelAggregation(labels=labels, tau=0.1)
    start = from_labels(problem).initial()
    pull = from_labels(problem).least_squares.pairs.products(start)
    # The start is computed to two digits, which is all a start is worth.
    assert start @ pull > 0.98 * 2 * np.cos(np.pi / size) * (start @ start)


def test_workers_without_a_partner_have_no_curvature_at_all() -> None:
    task, worker = [*range(30), 30, 30], [0] * 30 + [1, 2]
    labels = {"task": task, "worker": worker, "label": [0, 1] * 16}
    for kind, pairs in all_kinds(LabelAggregation(labels=labels)).items():
        pull, curvature = pairs.pulls(np.array([0.3, 0.7, 0.1]))
        assert pull[0] == 0 == curvature[0], kind


def test_partners_at_zero_leave_no_curvature_either() -> None:
    # What remains of sums minus own terms is then rounding, and must not be taken for curvature.
    task = np.repeat(np.arange(40), 2)
    worker = np.column_stack([np.zeros(40, int), 1 + np.arange(40) % 3]).ravel()
    labels = {"task": task, "worker": worker, "label": np.random.default_rng(0).integers(2, size=80)}
    x = np.array([0.1234567, 0.0, 0.0, 0.0])
    for kind, pairs in all_kinds(LabelAggregation(labels=labels)).items():
        assert pairs.pulls(x)[1][0] == 0, kind
        assert pairs.sweep(x, -np.ones(4), np.ones(4))[0][0] == x[0], kind


def test_pairs_are_counted_for_few_workers_and_left_in_the_labels_for_many() -> None:
    few = coin(0, np.full(6, 0.6), tasks=30, per_task=3)
    assert isinstance(few.formulation.problem, RankOneCompletion)  # type: ignore[union-attr]
    rng = np.random.default_rng(0)
    tasks, workers = 60_000, 3000
    worker = np.sort((rng.integers(workers, size=(tasks, 1)) + np.arange(10) * 7) % workers, axis=1)
    labels = {"task": np.repeat(np.arange(tasks), 10), "worker": worker.ravel()}
    labels["label"] = rng.integers(2, size=tasks * 10)
    many = LabelAggregation(labels=labels)
    completion = many.formulation.problem  # type: ignore[union-attr]
    assert isinstance(completion, LabelCorrelations)
    x = rng.normal(size=workers)
    pairs = SparsePairs(*counted(many))
    for mine, theirs in zip(completion.least_squares.pairs.pulls(x), pairs.pulls(x), strict=True):
        assert np.abs(mine - theirs).max() <= NEAR * np.abs(theirs).max()
    binary = LabelAggregation(labels=labels, weights="binary")
    assert isinstance(binary.formulation.problem, RankOneCompletion)  # type: ignore[union-attr]


def test_many_labels_of_few_workers_are_counted_in_a_table_and_sparse_pairs_are_not() -> None:
    rng = np.random.default_rng(0)
    for spread, dense in ((70, True), (4, False)):  # who may share a task: everyone, or a few neighbours
        worker = (rng.integers(70, size=(400, 1)) + np.argsort(rng.random((400, spread)), axis=1)[:, :4]) % 70
        labels = {"task": np.repeat(np.arange(400), 4), "worker": worker.ravel()}
        problem = LabelAggregation(labels=labels | {"label": rng.integers(2, size=1600)})
        completion = problem.formulation.problem  # type: ignore[union-attr]
        assert isinstance(completion, RankOneCompletion)
        pairs, (known, targets) = completion.least_squares.pairs, counted(problem)
        assert isinstance(pairs, DensePairs if dense else SparsePairs)
        assert np.array_equal(completion.least_squares.known.toarray(), known.toarray())
        assert np.array_equal(completion.least_squares.targets.toarray(), targets.toarray())
        assert completion.least_squares.value(np.full(70, 0.3)) == pytest.approx(
            RankOneCompletion(weights=known, values=targets).objective(np.full(70, 0.3))
        )


def test_workers_in_any_order_within_a_task_are_counted_alike() -> None:
    labels: dict[str, object] = {
        "task": np.array([0, 0, 0, 1, 1, 2, 2, 3]),
        "worker": np.array([2, 0, 1, 1, 0, 2, 0, 1]),
        "label": np.array([0, 1, 0, 0, 0, 1, 1, 1]),
    }
    objective = LabelLeastSquares(**labels, workers=3, classes=2)
    assert objective.known.toarray().tolist() == [[0, 2, 2], [2, 0, 1], [2, 1, 0]]
    assert objective.targets.toarray().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_unsigned_codes_of_tasks_out_of_order_are_refused() -> None:
    task, code = np.array([1, 0], dtype=np.uint32), np.array([0, 1])
    with pytest.raises(InvalidInput, match="in order of tasks"):
        LabelLeastSquares(task=task, worker=code, label=code, workers=2, classes=2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"task": [1, 0, 0]}, "in order of tasks"),
        ({"worker": [0, 1]}, "one length"),
        ({"label": [0.5, 1.0, 1.0]}, "vector of codes"),
    ],
)
def test_wrong_codes_are_refused_in_words(changed: dict[str, object], message: str) -> None:
    codes = {"task": [0, 0, 1], "worker": [0, 1, 1], "label": [0, 1, 1]}
    with pytest.raises(InvalidInput, match=message):
        LabelLeastSquares(**codes | changed, workers=2, classes=2)
