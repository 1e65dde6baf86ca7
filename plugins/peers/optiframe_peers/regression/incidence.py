"""Merged comparisons as the sparse matrix that libraries take."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph

from optiframe.records.fields import Array


def incidence(graph: ComparisonGraph, factors: Array | None = None) -> Any:
    """X, with rows multiplied by `factors`: a column an item, 32-bit indices; compressed by columns."""
    values = np.ones(graph.rows) if factors is None else factors
    at = np.arange(graph.rows)
    places = (np.concatenate([at, at]), np.concatenate([graph.left, graph.right]))
    matrix = sp.coo_matrix((np.concatenate([values, -values]), places), shape=(graph.rows, graph.items))
    return narrow(matrix.tocsc())


def narrow(matrix: Any) -> Any:
    """A sparse matrix with the 32-bit indices that libraries ask for, where they suffice."""
    if not sp.issparse(matrix) or matrix.nnz > np.iinfo(np.int32).max:
        return matrix
    indices, indptr = (part.astype(np.int32) for part in (matrix.indices, matrix.indptr))
    return type(matrix)((matrix.data, indices, indptr), shape=matrix.shape)


def pull(graph: ComparisonGraph, scores: Array, most: float = np.inf) -> float:
    """Largest entry of the gradient at these scores, misfits cut off at `most`, over the largest degree."""
    misfit = graph.margin - graph.differences(scores)
    gradient = graph.divergence(graph.weight * np.clip(misfit, -most, most))
    return float(np.abs(gradient).max(initial=0.0) / max(float(graph.laplacian.diagonal().max()), 1e-300))
