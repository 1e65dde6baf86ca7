"""Hessian products by blocks of rows in single precision, for directions that need no more digits.

As `row_passes`, in half the time: a vector register holds twice as many numbers, and a block takes half
the bytes. Sums over blocks are kept in double precision. Memory is 8 bytes a comparison
and 4 (m + n) r bytes, and during a product 8 max(65536, n) + 28 (m + n) r bytes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import sgemm

from optiframe.records.fields import Array
from optiframe_manifold.kernels import passes
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.row_passes import RowPasses

Single = NDArray[np.float32]


class SinglePasses:
    """Products with the Hessian at one point, to about six digits.

    Parameters
    ----------
    rows
        The passes in double precision, whose blocks of rows these share.
    x
        The point.
    scale
        Of ``scale X exp(X^2)``, the penalty's gradient.
    slope, bend
        Derivatives of the loss by every margin.
    """

    def __init__(self, rows: RowPasses, x: LowRank, scale: float, slope: Array, bend: Array) -> None:
        self._blocks, self._items, self._entries = rows.blocks, rows.data.items, rows.entries
        self._left, self._right = _single(x.left), _single(x.right)
        self._shift = -math.log(scale)  # the scale is a part of it, which saves a product an entry
        self._slope, self._bend = _single(slope), _single(bend)

    def hessian_product(self, v: LowRank, growth: float) -> LowRank:
        """As `RowPasses.hessian_product`."""
        left, right, v_left, v_right = self._left, self._right, _single(v.left), _single(v.right)
        along = np.hstack([v_left, left])
        turned, turned_along = _turned(right), _turned(np.hstack([right, v_right]))
        entries, change = np.empty(self._entries, np.float32), np.empty(self._entries, np.float32)
        to_left, to_right = np.empty(left.shape), np.zeros(turned.shape)
        part = np.empty_like(turned)
        for block in self._blocks:
            rows, mine = block.rows, block.mine
            size = (rows.stop - rows.start, self._items)
            x, d = entries[: size[0] * size[1]].reshape(size), change[: size[0] * size[1]].reshape(size)
            np.matmul(left[rows], turned, out=x)
            np.matmul(along[rows], turned_along, out=d)
            chosen, loss = (block.pointer, block.winner, block.loser), (self._slope[mine], self._bend[mine])
            passes.bend_rows(x, d, (self._shift, 1.0, growth), *chosen, *loss)
            to_left[rows] = d @ turned.T + x @ turned_along[right.shape[1] :].T
            # In place, as in `row_passes`.
            sgemm(1.0, d.T, left[rows].T, beta=0.0, c=part.T, trans_b=True, overwrite_c=True)
            sgemm(1.0, x.T, v_left[rows].T, beta=1.0, c=part.T, trans_b=True, overwrite_c=True)
            to_right += part
        return LowRank(to_left, np.ascontiguousarray(to_right.T))


def _single(x: Array) -> Single:
    return np.ascontiguousarray(x, dtype=np.float32)


def _turned(x: Single) -> Single:
    return np.ascontiguousarray(x.T)
