"""The multigrid cycle: each part against dense matrices, and how well conjugate gradients do with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph import multigrid as module
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.conjugate_gradients import conjugate_gradients
from optiframe_hodgerank.graph.multigrid import multigrid
from optiframe_hodgerank.kernels import compiled_multigrid as kernels

Edges = tuple[Any, Any, Any]


def graph_of(pairs: Any, seed: int = 0) -> ComparisonGraph:
    """The graph of these pairs of items, with margins and weights drawn."""
    left, right = np.asarray(pairs, dtype=np.int64).T
    rng = np.random.default_rng(seed)
    items, rows = int(max(left.max(), right.max())) + 1, len(left)
    return ComparisonGraph(items, left, right, rng.standard_normal(rows), rng.choice([0.5, 1.0, 2.0], rows))


def image(height: int, width: int, reach: int = 2) -> ComparisonGraph:
    """Pixels compared with those at most `reach` rows and columns away."""
    at = np.arange(height * width).reshape(height, width)
    pairs = [
        (at[i, j], at[i + down, j + across])
        for down in range(reach + 1)
        for across in range(-reach, reach + 1)
        if down > 0 or across > 0
        for i in range(height - down)
        for j in range(max(0, -across), min(width, width - across))
    ]
    return graph_of(pairs)


def chain(items: int) -> ComparisonGraph:
    return graph_of(np.stack([np.arange(items - 1), np.arange(1, items)], axis=1))


def cycle_of(graph: ComparisonGraph) -> module.Multigrid:
    found = graph.multigrid
    assert found is not None
    return found


def small(seed: int) -> tuple[ComparisonGraph, Edges, np.ndarray]:
    """A graph, its edges from both ends, and its weights as a dense matrix."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(9, size=(20, 2))
    graph = graph_of([*pairs[pairs[:, 0] != pairs[:, 1]], (0, 8)], seed)
    rows = graph.by_pair
    dense = -graph.laplacian.toarray()
    np.fill_diagonal(dense, 0.0)
    return graph, kernels.both_ways(rows.first_pair, rows.other, rows.whole), dense


def dense_of(matrix: Edges, columns: int) -> np.ndarray:
    first, other, value = module._cut(matrix)
    found = np.zeros((len(first) - 1, columns))
    np.add.at(found, (np.repeat(np.arange(len(first) - 1), np.diff(first)), other), value)
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_part_of_a_cycle_is_what_dense_matrices_say(seed: int) -> None:
    graph, edges, weights = small(seed)
    rng = np.random.default_rng(seed)
    items = graph.items
    assert dense_of(edges, items) == pytest.approx(weights)
    assert kernels.degrees(edges[0], edges[2]) == pytest.approx(weights.sum(axis=1))
    earlier = kernels.to_earlier(*edges)
    assert dense_of(earlier, items) == pytest.approx(np.tril(weights))
    x, weighed = rng.standard_normal(items).astype(np.float32), np.empty(items, dtype=np.float32)
    kernels.weigh(*earlier, x, weighed)
    assert weighed == pytest.approx(weights @ x, abs=1e-4)
    b = np.round(rng.standard_normal((items, 4)), 1)
    sparse = (np.arange(items + 1) * 4, np.tile(np.arange(4), items), b.ravel())
    diagonal, scale = rng.standard_normal((2, items))
    product = kernels.multiply(*edges, diagonal, scale, *sparse, 4)
    assert dense_of(product, 4) == pytest.approx(diagonal[:, None] * b + scale[:, None] * (weights @ b))
    assert kernels.restrict(*sparse, diagonal, coarse := np.empty(4)) is None
    assert coarse == pytest.approx(b.T @ diagonal)
    assert kernels.prolong(*sparse, coarse, fine := np.ones(items)) is None
    assert fine == pytest.approx(1 + b @ coarse)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_sweeps_are_those_of_gauss_and_seidel(seed: int) -> None:
    graph, edges, weights = small(seed)
    rng = np.random.default_rng(seed)
    degree = weights.sum(axis=1) + 0.5  # which makes it regular
    matrix = np.diag(degree) - weights
    b, start = rng.standard_normal((2, graph.items))
    earlier = kernels.to_earlier(*edges)
    x, left, rest = np.empty((3, graph.items))
    kernels.forward(*earlier, 1 / degree, b, x, left)
    slow = np.linalg.solve(np.tril(matrix), b)
    assert x == pytest.approx(slow, abs=1e-6)  # weights are in single precision
    assert left == pytest.approx(b - matrix @ slow, abs=1e-6)
    x = start.copy()
    kernels.backward(*earlier, 1 / degree, b, x, rest)
    assert x == pytest.approx(np.linalg.solve(np.triu(matrix), b - np.tril(matrix, -1) @ start), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_groups_are_of_neighbours_and_leave_out_who_has_none(seed: int) -> None:
    _, edges, weights = small(seed)
    group, groups = kernels.aggregate(edges[0], edges[1])
    assert ((group >= 0) == (weights.sum(axis=1) > 0)).all()
    near = (weights > 0) | np.eye(len(weights), dtype=bool)
    for number in range(groups):
        within = np.flatnonzero(group == number)
        assert len(within) >= 2
        # Founded by one with its neighbours and joined by theirs: at most four steps across.
        assert np.linalg.matrix_power(near[np.ix_(within, within)].astype(int), 4).all()


SHAPES: dict[str, Callable[[], ComparisonGraph]] = {
    "image": lambda: image(24, 22),
    "neighbours only": lambda: image(30, 30, reach=1),
    "chain": lambda: chain(700),
    "two images": lambda: graph_of(
        [
            (a + s, b + s)
            for s in (0, 240)
            for a, b in zip(*(image(16, 15).left.tolist(), image(16, 15).right.tolist()), strict=True)
        ]
    ),
    "star forest": lambda: graph_of([(8 * s, 8 * s + leaf) for s in range(60) for leaf in range(1, 8)]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_conjugate_gradients_need_few_cycles(shape: str) -> None:
    graph = SHAPES[shape]()
    b = graph.divergence(graph.weight * graph.margin)
    matrix = graph.laplacian
    x, left = np.zeros_like(b), b.copy()
    assert conjugate_gradients(lambda v: matrix @ v, cycle_of(graph), x, left, 1e-11, most=40)
    assert graph.centred(x) == pytest.approx(graph.scores(graph.margin), abs=1e-7)


def test_a_cycle_is_symmetric_and_positive() -> None:
    graph = image(12, 11)
    cycle = cycle_of(graph)
    units = graph.centred(np.eye(graph.items))
    matrix = units.T @ np.column_stack([cycle(unit) for unit in units.T])
    assert matrix == pytest.approx(matrix.T, abs=1e-5)
    assert np.linalg.eigvalsh((matrix + matrix.T) / 2)[1] > 0.01


def test_a_common_factor_of_the_weights_changes_nothing() -> None:
    graph = image(12, 11)
    b = graph.divergence(graph.margin)
    large = ComparisonGraph(graph.items, graph.left, graph.right, graph.margin, 1e60 * graph.weight)
    assert cycle_of(large)(1e-200 * b) == pytest.approx(1e-200 * cycle_of(graph)(b), rel=1e-4, abs=1e-206)


def test_where_groups_do_not_make_the_graph_small_there_is_no_cycle() -> None:
    rng = np.random.default_rng(0)
    left = np.repeat(np.arange(2000), 3)
    far = graph_of(np.stack([left, (left + rng.integers(1, 2000, len(left))) % 2000], axis=1))
    assert far.multigrid is None


def test_without_the_compiler_there_is_no_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_compiled", lambda: None)
    rows = image(12, 11).by_pair
    assert multigrid(rows.first_pair, rows.other, rows.whole) is None
