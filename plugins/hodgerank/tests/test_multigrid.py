"""The multigrid cycle: what it must be, and how well conjugate gradients do with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.conjugate_gradients import conjugate_gradients
from optiframe_hodgerank.graph.multigrid import Cycle


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


def cycle_of(graph: ComparisonGraph) -> Cycle:
    found = graph.multigrid
    assert found is not None
    return found


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


@pytest.mark.slow
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
