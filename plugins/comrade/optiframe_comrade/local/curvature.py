"""What a worker tells of its Hessian once a run: its diagonal, and its products with a few vectors."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.records.fields import Array
from optiframe_comrade.local.step import SMALL, is_plain

_PROBES = 100  # products that estimate a diagonal, to some 15% where the Hessian is far from diagonal


def hessian_diagonal(shard: FiniteSum, x: Array) -> Array:
    """The diagonal of the shard's Hessian at x, shape (d,).

    Of a linear model it costs one reading of the matrix. Where there are only Hessian products, it
    takes one for each column, and above 1,000 columns it is estimated by 100 of them (Bekas,
    Kokiopoulou, Saad 2007).
    """
    if isinstance(shard, LinearModel) and is_plain(shard):
        matrix, weights = shard.matrix, shard.bends(shard.matrix @ x) / len(shard)
        if sp.issparse(matrix):
            return np.asarray(matrix.multiply(matrix).T @ weights) + shard.l2
        return np.asarray(np.einsum("ij,ij,i->j", matrix, matrix, weights, optimize=True)) + shard.l2
    if shard.offers(Objective.hessian):
        return np.array(np.diag(shard.hessian(x)))
    columns = len(x)
    if columns <= SMALL:
        return np.array([shard.hessian_product(x, one)[at] for at, one in enumerate(np.eye(columns))])
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (_PROBES, columns))
    return np.asarray(np.mean([one * shard.hessian_product(x, one) for one in signs], axis=0))


def hessian_block(shard: FiniteSum, x: Array, scale: Array, block: Array) -> Array:
    """S^-1 H S^-1 v for each of the k vectors v in `block`, one after the other: shape (k d,)."""
    rows = block.reshape(-1, len(x)) / scale
    if isinstance(shard, LinearModel) and is_plain(shard):
        matrix, weights = shard.matrix, shard.bends(shard.matrix @ x) / len(shard)
        images = (matrix.T @ (weights[:, np.newaxis] * (matrix @ rows.T))).T + shard.l2 * rows
    elif shard.offers(Objective.hessian_product):
        images = np.array([shard.hessian_product(x, row) for row in rows])
    else:
        images = rows @ shard.hessian(x)
    return np.asarray(images / scale).ravel()
