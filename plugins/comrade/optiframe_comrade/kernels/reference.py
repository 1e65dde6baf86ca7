"""What the kernels compute, in plain NumPy."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.records.fields import Array


def logistic(predictions: Array, target: Array, slopes: Array, roots: Array) -> float:
    """Sum of the logistic losses log(1 + exp(-y z)) of n predictions z and targets y, all of shape (n,).

    Written to: `slopes`, the losses' derivatives by z, and `roots`, the square roots of their second
    derivatives. Targets are -1 and 1.

    Raises
    ------
    ValueError
        When lengths disagree.
    """
    margins = target * predictions
    np.multiply(-target, expit(-margins), out=slopes)
    np.sqrt(expit(margins) * expit(-margins), out=roots)
    with np.errstate(invalid="ignore"):  # nan for nan, in silence like all else here
        return float(np.logaddexp(0.0, -margins).sum())


def sparse_gram(
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    weights: Array,
    total: Array,
) -> None:
    """Adds matrix' diag(weights) matrix to `total`, d x d, upper triangle, for n rows of a sparse matrix.

    `data`, `indices` and `indptr` are those of SciPy's CSR format; in each row the columns rise. Reads the
    rows once: sum of nnz_i^2/2 multiplications, no memory beside.

    Raises
    ------
    ValueError
        When lengths disagree, a column is not in the matrix or rows are not as `indptr` must say.
    """
    rows, columns = len(weights), len(total)
    counts = np.diff(indptr)
    if (counts < 0).any() or indptr[0] < 0 or indptr[-1] > len(data):
        raise ValueError("indptr must rise from 0 to the number of entries")
    row = np.repeat(np.arange(rows), counts)
    rises = (np.diff(indices) > 0) | (np.diff(row) > 0)
    if not rises.all() or (len(indices) and not 0 <= indices.min() <= indices.max() < columns):
        raise ValueError("indices must rise in each row and be columns of total")
    matrix = sp.csr_array((data, indices, indptr), shape=(rows, columns))
    total += np.triu((matrix.T @ (sp.diags_array(weights) @ matrix)).toarray())


def scale(block: Array, roots: Array, into: NDArray[np.float32]) -> None:
    """Rows of `block`, n x d, times one of n `roots` each, written to `into` in single precision, n x d.

    Raises
    ------
    ValueError
        When shapes disagree.
    """
    np.multiply(block, roots[:, np.newaxis], out=into, casting="same_kind")
