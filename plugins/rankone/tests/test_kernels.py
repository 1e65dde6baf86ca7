"""Kernels and the worker graph against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.kernels import passes
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.worker_graph import WorkerGraph

from .slow import co_occurrence, components, single_coin, two_colourable, vote


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


@given(label_sets())
def test_shared_and_agreed_counts_equal_a_loop_over_pairs_of_labels(problem: LabelAggregation) -> None:
    labels = problem.labels
    shared, agreed = passes.co_occurrence(
        labels.task,
        labels.worker,
        problem.label_codes,
        tasks=len(labels.task_ids),
        workers=len(labels.worker_ids),
        classes=len(problem.classes),
    )
    slow_shared, slow_agreed = co_occurrence(problem)
    assert np.array_equal(shared.toarray(), slow_shared)
    rows, columns = np.nonzero(slow_shared)
    assert np.array_equal(agreed, slow_agreed[rows, columns])


@given(label_sets(), st.integers(0, 100))
def test_votes_equal_a_loop_over_labels(problem: LabelAggregation, seed: int) -> None:
    weight = np.random.default_rng(seed).normal(size=len(problem.labels.worker_ids))
    assert problem.vote(weight, "log-odds").scores == pytest.approx(vote(problem, weight))


@given(label_sets())
@settings(max_examples=100)
def test_components_and_bipartiteness_equal_a_search_on_the_full_graph(problem: LabelAggregation) -> None:
    graph = problem.worker_graph
    edges = co_occurrence(problem)[0] > 0
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


def test_expected_hits_equal_a_loop() -> None:
    problem = LabelAggregation(**single_coin(0, np.full(5, 0.5), tasks=12, per_task=3, classes=3))
    posterior = passes.softmax(np.random.default_rng(1).normal(size=(12, 3)))
    labels, slow = problem.labels, np.zeros(5)
    for task, worker, label in zip(labels.task, labels.worker, problem.label_codes, strict=True):
        slow[worker] += posterior[task, label]
    fast = passes.expected_hits(labels.task, labels.worker, problem.label_codes, posterior, 5)
    assert fast == pytest.approx(slow)
