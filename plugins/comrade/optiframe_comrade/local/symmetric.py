"""Symmetric positive semidefinite matrices: a Gram matrix from rows, and systems with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from optiframe.records.fields import Array
from optiframe_comrade.kernels import passes

_BLOCK = 1 << 20  # bytes of rows scaled at a time: they stay in the second-level cache
# Share of nonzeros from which dense blocks are faster than sparse rows: measured at 100 to 800 columns.
_DENSE = 0.4
_EPS = float(np.finfo(np.float64).eps)
# Up to here an eigenvalue over order and largest one is rounding: LAPACK's were seen to be 1.3 eps off.
_NULL = 8 * _EPS


def weighted_gram(matrix: Any, weights: Array, ridge: float = 0.0) -> Array:
    """matrix' diag(weights) matrix + ridge I, for weights of at least zero; a full symmetric array.

    A dense matrix is read once, in blocks that are scaled in one buffer, and only half of each
    product is computed; memory beside the answer is about 1 MB. A sparse one is read once by rows, and
    in dense blocks from 40% of nonzeros on.
    """
    columns = matrix.shape[1]
    if sp.issparse(matrix):
        total = _sparse_gram(sp.csr_array(matrix), weights)
    else:
        roots = np.sqrt(weights)
        upper = np.zeros((columns, columns), order="F")
        rows = max(64, _BLOCK // (8 * columns))
        buffer = np.empty((min(rows, len(matrix)), columns))
        for start in range(0, len(matrix), rows):
            block = matrix[start : start + rows]
            scaled = np.multiply(block, roots[start : start + rows, np.newaxis], out=buffer[: len(block)])
            # The transpose of a C-ordered block is Fortran-ordered: BLAS takes it without a copy.
            upper = la.blas.dsyrk(1.0, scaled.T, beta=1.0, c=upper, overwrite_c=1)
        total = np.triu(upper, 1)
        total += total.T
        total[np.diag_indices(columns)] = np.diag(upper)
    total[np.diag_indices(columns)] += ridge
    return np.asarray(total)


def _sparse_gram(matrix: Any, weights: Array) -> Array:
    rows, columns = matrix.shape
    if not matrix.has_canonical_format:  # columns that rise, each once
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.nnz > _DENSE * rows * columns:
        total = np.zeros((columns, columns))
        height = max(64, _BLOCK // (8 * columns))
        for start in range(0, rows, height):
            block = slice(start, start + height)
            total += weighted_gram(matrix[block].toarray(), weights[block])
        return total
    total = np.zeros((columns, columns))
    indices, indptr = (each.astype(np.int32, copy=False) for each in (matrix.indices, matrix.indptr))
    data = np.ascontiguousarray(matrix.data, dtype=np.float64)
    passes.sparse_gram(data, indices, indptr, np.ascontiguousarray(weights), total)
    diagonal = total.diagonal().copy()
    total += total.T
    total[np.diag_indices(columns)] = diagonal
    return total


def solve_symmetric(matrix: Array, right: Array) -> Array:
    """matrix^+ right for a positive semidefinite matrix; by Cholesky where its condition allows it.

    Rows and columns of very different units make any condition. So it is that with a unit diagonal which says
    whether the matrix is singular; empty rows and columns are left out.
    """
    if (solved := _solve_regular(matrix, right)) is not None:
        return solved
    diagonal = matrix.diagonal()
    full = diagonal != 0.0
    if not full.any():
        return np.zeros_like(right)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite, or below zero, has no factor
        scale = 1 / np.sqrt(diagonal[full])
        scaled = scale[:, np.newaxis] * matrix[np.ix_(full, full)] * scale
    solved = _solve_regular(scaled, scale * right[full])
    if solved is None:
        return pseudo_inverse(matrix, right)
    found = np.zeros_like(right)
    found[full] = scale * solved
    return found


def _solve_regular(matrix: Array, right: Array) -> Array | None:
    """matrix^-1 right by Cholesky; None where the matrix is singular to rounding."""
    factor, reciprocal = cholesky(matrix)
    if factor is None or reciprocal <= len(matrix) * _EPS:
        return None
    return np.asarray(la.cho_solve((factor, False), right))


def cholesky(matrix: Array) -> tuple[Array | None, float]:
    """The upper Cholesky factor, None where there is none, and about the inverse of the condition."""
    norm = float(np.abs(matrix).sum(axis=0).max(initial=0.0))
    factor, info = la.lapack.dpotrf(matrix, lower=0)
    if info != 0 or not np.isfinite(norm):
        return None, 0.0
    reciprocal, _ = la.lapack.dpocon(factor, norm)
    return factor, float(reciprocal)


def pseudo_inverse(matrix: Array, right: Array, power: int = 1) -> Array:
    """(matrix^+)^power right by eigenvalues, those below rounding taken for zero."""
    values, vectors = la.eigh(matrix)
    keep = values > _NULL * len(matrix) * max(float(values[-1]), 0.0)
    basis = vectors[:, keep]
    return np.asarray(basis @ ((basis.T @ right) / values[keep] ** power))
