"""Leading eigenvectors of symmetric matrices and operators."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from optiframe.records.fields import Array

_DENSE = 400
"""Up to this order a dense decomposition takes well under a second and has no start to depend on."""


class Leading(NamedTuple):
    """The largest eigenvalue, its unit eigenvector, and how far the next eigenvalue is below."""

    value: float
    vector: Array
    gap: float


def leading(matrix: Any, rng: np.random.Generator) -> Leading:
    """Largest eigenvalue (with its sign) of a symmetric array, sparse array or operator.

    Dense up to order 400; above that by Lanczos from a start drawn from `rng`, where time is
    a few hundred products. The vector's sign has no meaning.
    """
    order = matrix.shape[0]
    if order == 1:
        return Leading(float((matrix @ np.ones(1))[0]), np.ones(1), np.inf)
    if order <= _DENSE:
        values, vectors = scipy.linalg.eigh(_dense(matrix), subset_by_index=(order - 2, order - 1))
    else:
        values, vectors = eigsh(matrix, k=2, which="LA", v0=rng.standard_normal(order))
    return Leading(float(values[-1]), np.asarray(vectors[:, -1]), float(values[-1] - values[-2]))


def _dense(matrix: Any) -> Array:
    if isinstance(matrix, LinearOperator):
        return np.asarray(matrix @ np.eye(matrix.shape[0]))
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)
