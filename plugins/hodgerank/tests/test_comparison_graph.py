"""The comparison graph against dense pseudo-inverses, by every method."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph import laplacian
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.laplacian import NotSolved, invert

from .path_twins import graph_of, incidence

METHODS = ("dense", "sparse", "iterative")


def drawn(seed: int, items: int, rows: int) -> ComparisonGraph:
    return graph_of(seed, items, rows, weights=(1.0, 2.0, 3.0, 4.0))


graphs = st.builds(drawn, st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 25))


@settings(max_examples=25)
@given(graphs)
def test_every_method_applies_the_pseudo_inverse_of_any_graph(graph: ComparisonGraph) -> None:
    x = incidence(graph)
    weighted = x.T @ (graph.weight[:, None] * x)
    assert np.allclose(graph.laplacian.toarray(), weighted, atol=1e-12)
    slow = np.linalg.pinv(weighted, hermitian=True)
    b = np.random.default_rng(0).standard_normal((graph.items, 3))
    for method in METHODS:
        inverse = invert(graph.laplacian, graph.components, method)
        assert np.allclose(inverse.solve(b), slow @ b, atol=1e-9)
        assert np.allclose(inverse.solve(b[:, 0]), slow @ b[:, 0], atol=1e-9)
        assert np.allclose(inverse.diagonal(), np.diag(slow), atol=1e-9)


@settings(max_examples=25)
@given(graphs)
def test_scores_and_cycles_split_a_margin_into_orthogonal_parts(graph: ComparisonGraph) -> None:
    x, w = incidence(graph), graph.weight
    assert np.allclose(graph.divergence(graph.margin), x.T @ graph.margin)
    scores, cycles = graph.scores(graph.margin), graph.cycles(graph.margin)
    assert np.allclose(graph.differences(scores), x @ scores)
    assert np.allclose(graph.differences(scores) + cycles, graph.margin)
    assert np.allclose(x.T @ (w * cycles), 0.0, atol=1e-9)
    assert np.allclose(graph.cycles(cycles), cycles, atol=1e-9)
    sums = np.bincount(graph.components, scores)
    assert np.allclose(sums, 0.0, atol=1e-9)
    assert np.allclose(graph.centred(scores + graph.components), scores, atol=1e-9)


@pytest.mark.slow
def test_the_method_follows_the_size_and_the_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = np.arange(30)
    graph = ComparisonGraph(31, chain, chain + 1, np.ones(30))
    assert graph.method == "dense"
    dense = graph.scores(graph.margin)
    monkeypatch.setattr(laplacian, "DENSE", 10)
    sparse = ComparisonGraph(31, chain, chain + 1, np.ones(30))
    assert sparse.method == "sparse LU"
    assert np.allclose(sparse.scores(graph.margin), dense, atol=1e-12)
    monkeypatch.setattr(laplacian, "_FILL", 0.0)
    iterative = ComparisonGraph(31, chain, chain + 1, np.ones(30))
    assert iterative.method == "conjugate gradients + multigrid"
    assert np.allclose(iterative.scores(graph.margin), dense, atol=1e-9)
    far = drawn(0, 2000, 6000)
    assert far.method == "conjugate gradients + diagonal"
    inverse = invert(far.laplacian, far.components, "dense")
    assert np.allclose(
        far.scores(far.margin), inverse.solve(far.divergence(far.weight * far.margin)), atol=1e-9
    )


def test_conjugate_gradients_that_do_not_converge_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacian, "_STEPS", 1)
    graph = drawn(0, 20, 60)
    with pytest.raises(NotSolved, match="not solved in 1 steps of conjugate gradients"):
        invert(graph.laplacian, graph.components, "iterative").solve(np.arange(20.0))


def test_pickling_drops_the_factor_and_keeps_the_rows() -> None:
    graph = drawn(1, 6, 30)
    before = graph.scores(graph.margin)
    again = pickle.loads(pickle.dumps(graph))
    assert set(vars(again)) == {"items", "left", "right", "margin", "weight"}
    assert np.array_equal(again.scores(again.margin), before)
