"""Passes over all m x n entries, some rows at a time: what the log-sum-exp penalty asks for.

Every pass multiplies a block of rows of the left factor with the whole right factor (BLAS), lets
the kernels work on the block's entries, and multiplies back. Comparisons read and write
single entries of the block, so that they cost nothing in the rank. Memory beside the data and the
results is 2 blocks of 65,536 entries (or one row, if that is more) and 2 turned right factors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from optiframe.records.fields import Array
from optiframe_manifold.kernels import passes
from optiframe_manifold.low_rank import LowRank

_BLOCK = 1 << 16  # entries of a block: half a megabyte, so that two of them stay in a core's cache


@dataclass(frozen=True)
class Comparisons:
    """Which item each comparison prefers, grouped by user; see `BtlObjective`."""

    winner: NDArray[np.int32]
    loser: NDArray[np.int32]
    pointer: NDArray[np.int64]
    weight: Array  # empty for ones
    sigma: float
    items: int


@dataclass(frozen=True)
class Rows:
    """Some rows and their comparisons."""

    rows: slice
    mine: slice
    pointer: NDArray[np.int64]  # from 0 on
    winner: NDArray[np.int32]
    loser: NDArray[np.int32]


class _Products:
    """The sum over blocks of ``block @ right`` and ``block' @ left``."""

    def __init__(self, left: Array, right: Array) -> None:
        self._left, self._turned = left, np.ascontiguousarray(right.T)
        self._to_left, self._to_right = np.zeros_like(left), np.zeros_like(self._turned)

    def add(self, part: Array, block: Rows) -> None:
        rows = block.rows
        self._to_left[rows] += part @ self._turned.T
        # In place, which NumPy has no words for: twice as fast for blocks of few rows. BLAS counts by
        # columns and sees every array transposed.
        dgemm(1.0, part.T, self._left[rows].T, beta=1.0, c=self._to_right.T, trans_b=True, overwrite_c=True)

    def factors(self) -> LowRank:
        return LowRank(self._to_left, np.ascontiguousarray(self._to_right.T))


class RowPasses:
    """Value, gradient and Hessian products by blocks of rows.

    Parameters
    ----------
    data
        The comparisons.
    exponents
        Whether to go over exp(X^2) as well.
    """

    def __init__(self, data: Comparisons, exponents: bool) -> None:
        self.data, self.exponents = data, exponents
        users, size = len(data.pointer) - 1, max(1, _BLOCK // data.items)
        self.blocks = [self._block(first, min(first + size, users)) for first in range(0, users, size)]
        self.entries = min(size, users) * data.items
        self._most = max((len(block.winner) for block in self.blocks), default=0)

    def _block(self, first: int, last: int) -> Rows:
        data = self.data
        pointer = data.pointer[first : last + 1]
        mine = slice(int(pointer[0]), int(pointer[-1]))
        return Rows(slice(first, last), mine, pointer - pointer[0], data.winner[mine], data.loser[mine])

    def _products(self, left: Array, right: Array) -> Iterator[tuple[Rows, Array]]:
        """Each block of rows with its entries of ``left @ right.T``, in an array that is used again."""
        buffer, turned = np.empty(self.entries), np.ascontiguousarray(right.T)
        for block in self.blocks:
            x = _part(buffer, block, self.data.items)
            yield block, np.matmul(left[block.rows], turned, out=x)

    def greatest_square(self, x: LowRank) -> float:
        """The largest X_ij^2."""
        largest = [max(float(part.max()), -float(part.min())) for _, part in self._products(x.left, x.right)]
        return float(np.max(np.square(largest), initial=0.0))

    def value(self, x: LowRank, shift: float, slope: Array, bend: Array) -> tuple[float, float]:
        """The loss of the comparisons and the sum of exp(X^2 - shift); derivatives of the loss are kept."""
        margin, loss, total = np.empty(self._most), 0.0, 0.0
        for block, part in self._products(x.left, x.right):
            loss += self._loss(block, part, margin, slope, bend)
            if self.exponents:
                total += passes.exp_sum(part, shift)
        return loss, total

    def gradient(
        self, x: LowRank, shift: float, slope: Array, bend: Array
    ) -> tuple[float, float, LowRank, LowRank]:
        """As `value`, then S right and S' left for the loss's gradient S, then for X exp(X^2 - shift)."""
        margin, loss, total = np.empty(self._most), 0.0, 0.0
        buffer = np.empty(self.entries)
        of_loss, of_exponents = _Products(x.left, x.right), _Products(x.left, x.right)
        for block, part in self._products(x.left, x.right):
            loss += self._loss(block, part, margin, slope, bend)
            pulls = _part(buffer, block, self.data.items)
            pulls.fill(0.0)
            passes.spread(pulls, block.pointer, block.winner, block.loser, slope[block.mine])
            of_loss.add(pulls, block)
            if self.exponents:
                total += passes.exp_terms(part, shift)
                of_exponents.add(part, block)
        return loss, total, of_loss.factors(), of_exponents.factors()

    def _loss(self, block: Rows, part: Array, margin: Array, slope: Array, bend: Array) -> float:
        mine, data = block.mine, self.data
        here = margin[: len(block.winner)]
        passes.gather(part, block.pointer, block.winner, block.loser, here)
        weight = data.weight[mine] if len(data.weight) else data.weight
        return passes.log_loss(here, data.sigma, weight, slope[mine], bend[mine])

    def hessian_product(
        self, x: LowRank, v: LowRank, exponents: tuple[float, float, float], slope: Array, bend: Array
    ) -> LowRank:
        """H right + G v.right and H' left + G' v.left.

        G is the loss's gradient plus scale X exp(X^2 - shift), H its derivative along v. `exponents` is
        the shift, the scale and the relative change of 1/scale along v.
        """
        margin, buffer = np.empty(self._most), np.empty(self.entries)
        turned = np.ascontiguousarray(x.right.T)
        of_bent, of_pulls = _Products(x.left, x.right), _Products(v.left, v.right)
        change = self._products(np.hstack([v.left, x.left]), np.hstack([x.right, v.right]))
        for block, bent in change:
            pulls, chosen = _part(buffer, block, self.data.items), (block.pointer, block.winner, block.loser)
            if self.exponents:
                np.matmul(x.left[block.rows], turned, out=pulls)
                passes.bend_rows(pulls, bent, exponents, *chosen, slope[block.mine], bend[block.mine])
            else:
                here = margin[: len(block.winner)]
                passes.gather(bent, *chosen, here)
                here *= bend[block.mine]
                pulls.fill(0.0)
                bent.fill(0.0)
                passes.spread(bent, *chosen, here)
                passes.spread(pulls, *chosen, slope[block.mine])
            of_bent.add(bent, block)
            of_pulls.add(pulls, block)
        straight, moved = of_bent.factors(), of_pulls.factors()
        return LowRank(straight.left + moved.left, straight.right + moved.right)


def _part(buffer: Array, block: Rows, items: int) -> Array:
    rows = block.rows.stop - block.rows.start
    return buffer[: rows * items].reshape(rows, items)
