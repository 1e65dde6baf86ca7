"""Passes over all m x n entries, some rows at a time: what the log-sum-exp penalty asks for.

Every pass multiplies a block of rows of the left factor with the whole right factor (BLAS), lets
`plain` or `kernels` work on the block's entries, and multiplies back. Comparisons read and write
single entries of the block, so that they cost nothing in the rank. Memory beside the data and the
results is 3 blocks of 8 `block` bytes, `block` being 131,072 entries or one row, whichever is more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from optiframe.values import Array
from optiframe_manifold.low_rank import LowRank

_BLOCK = 1 << 17  # entries of a block: 1 MB, so that two of them and the factors stay in a core's cache


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


class RowPasses:
    """Value, gradient and Hessian products by blocks of rows.

    Parameters
    ----------
    data
        The comparisons.
    passes
        `optiframe_manifold.plain` or `optiframe_manifold.kernels`.
    exponents
        Whether to go over exp(X^2) as well.
    """

    def __init__(self, data: Comparisons, passes: ModuleType, exponents: bool) -> None:
        self.data, self.passes, self.exponents = data, passes, exponents
        users, size = len(data.pointer) - 1, max(1, _BLOCK // data.items)
        self._blocks = [self._block(first, min(first + size, users)) for first in range(0, users, size)]
        self._entries = min(size, users) * data.items
        self._most = max((len(block.winner) for block in self._blocks), default=0)

    def _block(self, first: int, last: int) -> Rows:
        data = self.data
        pointer = data.pointer[first : last + 1]
        mine = slice(int(pointer[0]), int(pointer[-1]))
        return Rows(
            slice(first, last), mine, pointer - pointer[0], data.winner[mine], data.loser[mine]
        )

    def _products(self, left: Array, right: Array) -> Iterator[tuple[Rows, Array]]:
        """Each block of rows with its entries of ``left @ right.T``, in an array that is used again."""
        buffer, turned = np.empty(self._entries), np.ascontiguousarray(right.T)
        for block in self._blocks:
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
                total += self.passes.exp_sum(part, shift)
        return loss, total

    def gradient(
        self, x: LowRank, shift: float, slope: Array, bend: Array
    ) -> tuple[float, float, LowRank, LowRank]:
        """As `value`, then S right and S' left of the loss's gradient S, and the same of X exp(X^2 - shift)."""
        margin, loss, total = np.empty(self._most), 0.0, 0.0
        buffer = np.empty(self._entries)
        of_loss, of_exponents = _zeros(x), _zeros(x)
        for block, part in self._products(x.left, x.right):
            loss += self._loss(block, part, margin, slope, bend)
            pulls = _part(buffer, block, self.data.items)
            pulls.fill(0.0)
            self.passes.spread(pulls, block.pointer, block.winner, block.loser, slope[block.mine])
            _back(pulls, block, x, of_loss)
            if self.exponents:
                total += self.passes.exp_terms(part, shift)
                _back(part, block, x, of_exponents)
        return loss, total, of_loss, of_exponents

    def _loss(self, block: Rows, part: Array, margin: Array, slope: Array, bend: Array) -> float:
        mine, data = block.mine, self.data
        here = margin[: len(block.winner)]
        self.passes.gather(part, block.pointer, block.winner, block.loser, here)
        weight = data.weight[mine] if len(data.weight) else data.weight
        return float(self.passes.log_loss(here, data.sigma, weight, slope[mine], bend[mine]))

    def hessian_product(  # noqa: PLR0917  # what `gradient` gave, in its order
        self, x: LowRank, v: LowRank, shift: float, scale: float, slope: Array, bend: Array
    ) -> LowRank:
        """H right + G v.right and H' left + G' v.left.

        G is the loss's gradient plus scale X exp(X^2 - shift), H its derivative along v (but for that
        of `scale`).
        """
        margin, buffer, found = np.empty(self._most), np.empty(self._entries), _zeros(x)
        turned = np.ascontiguousarray(x.right.T)
        change = self._products(np.hstack([v.left, x.left]), np.hstack([x.right, v.right]))
        for block, bent in change:
            here = margin[: len(block.winner)]
            self.passes.gather(bent, block.pointer, block.winner, block.loser, here)
            here *= bend[block.mine]
            pulls = _part(buffer, block, self.data.items)
            if self.exponents:
                np.matmul(x.left[block.rows], turned, out=pulls)
                self.passes.exp_bends(pulls, bent, shift, scale)
            else:
                pulls.fill(0.0)
                bent.fill(0.0)
            self.passes.spread(bent, block.pointer, block.winner, block.loser, here)
            self.passes.spread(pulls, block.pointer, block.winner, block.loser, slope[block.mine])
            _back(bent, block, x, found)
            _back(pulls, block, v, found)
        return found


def _part(buffer: Array, block: Rows, items: int) -> Array:
    rows = block.rows.stop - block.rows.start
    return buffer[: rows * items].reshape(rows, items)


def _zeros(x: LowRank) -> LowRank:
    return LowRank(np.zeros_like(x.left), np.zeros_like(x.right))


def _back(part: Array, block: Rows, factors: LowRank, into: LowRank) -> None:
    """Add the block times the right factor, and the block transposed times its rows of the left one."""
    into.left[block.rows] += part @ factors.right
    into.right[:] += part.T @ factors.left[block.rows]
