"""Linearized Bregman iteration with gradient steps in the scores: the variant `gradient` of `hodge.lbi`."""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph


def gradient_step(
    graph: ComparisonGraph, scores: Array, dual: Array, outliers: Array, *, dt: float, h: float
) -> tuple[Array, Array]:
    """Algorithm 2, (14a) and (14b), z in place; gives the new scores, and what the old ones leave."""
    rest = graph.margin - graph.differences(scores) - outliers
    dual += dt * rest
    return scores + h * graph.divergence(graph.weight * rest), rest


def largest_eigenvalue(graph: ComparisonGraph) -> float:
    """The largest eigenvalue of the Laplacian, X'WX: by LAPACK for few items, by Lanczos for many."""
    from scipy.sparse.linalg import eigsh

    if graph.items <= 500:  # a dense matrix of 2 MB, a tenth of a second
        return float(np.linalg.eigvalsh(graph.laplacian.toarray())[-1])
    start = np.cos(np.arange(graph.items))  # any start that is not an eigenvector; the same each time
    return float(eigsh(graph.laplacian, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
