"""Passes over the rows of a graph against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.huber import rows as huber_rows
from optiframe_hodgerank.huber.rows import HuberRows

from .path_twins import graph_of, incidence


def drawn(seed: int, items: int, rows: int) -> ComparisonGraph:
    return graph_of(seed, items, rows, values="tenths", weights=(0.5, 1.0, 3.0))


graphs = st.builds(drawn, st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 80))


@settings(max_examples=40, deadline=None)
@given(graph=graphs, level=st.sampled_from([0.05, 0.7, np.inf]), seed=st.integers(0, 99))
def test_rows_give_the_loss_and_its_derivatives(graph: ComparisonGraph, level: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, v = rng.standard_normal((2, graph.items))
    x, w = incidence(graph), graph.weight
    misfit = graph.margin - x @ scores
    held = np.clip(misfit, -level, level)
    kept = w * np.where(np.abs(misfit) <= level, 1.0, huber_rows._ANCHOR)
    hessian = x.T @ (kept[:, None] * x)
    rows = HuberRows(graph)
    loss, force = rows.huber(level, scores)
    assert loss == pytest.approx(w @ (held * misfit - held * held / 2))
    assert force == pytest.approx(x.T @ (w * held), abs=1e-12)
    assert rows.degree == pytest.approx(np.diag(hessian))
    assert rows.product(v) == pytest.approx(hessian @ v, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(graph=graphs, level=st.sampled_from([0.01, 0.3, np.inf]))
def test_parts_are_the_components_of_the_rows_within(graph: ComparisonGraph, level: float) -> None:
    within = np.abs(graph.margin) <= level
    part = np.arange(graph.items)
    for i, j in zip(graph.left[within].tolist(), graph.right[within].tolist(), strict=True):
        part[part == part[i]] = part[j]
    rows = HuberRows(graph)
    rows.huber(level, np.zeros(graph.items))
    assert rows.parts() == len(np.unique(part))


@settings(max_examples=40, deadline=None)
@given(graph=graphs)
def test_rows_by_pair_are_the_rows(graph: ComparisonGraph) -> None:
    rows, found = graph.by_pair, []
    for i in range(graph.items):
        for p in range(rows.first_pair[i], rows.first_pair[i + 1]):
            here = range(rows.first_row[p], rows.first_row[p + 1])
            assert rows.whole[p] == pytest.approx(sum(rows.weight[e] for e in here))
            found += [(i, int(rows.other[p]), rows.margin[e], rows.weight[e]) for e in here]
    given = zip(graph.left.tolist(), graph.right.tolist(), graph.margin, graph.weight, strict=True)
    assert sorted(found) == sorted(given)
