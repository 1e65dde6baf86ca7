"""What the kernels compute, in plain NumPy.

A block is some consecutive rows of an m x n matrix, an array of shape (rows, n) that fits in a
cache; `pointer` (rows + 1) says where each row's comparisons begin and end in `winner` and
`loser` (places of items) and in the arrays of one number for each comparison. Results are
written where the last arguments say. The compiled functions raise ValueError when lengths disagree
or a place is outside of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array

Floats = NDArray[np.floating[Any]]
Pointer = NDArray[np.int64]
Items = NDArray[np.int32]

_SHORT = 1 << 13  # comparisons whose losses are computed at a time: each array on the way is 64 KB
_BLOCK = 1 << 16  # comparisons whose rows of the factors are looked up at a time: 10 MB at rank 10


def log_loss(margin: Array, sigma: float, weight: Array, slope: Array, bend: Array) -> float:
    """Sum of w log(1 + exp(-margin/sigma)); its derivatives by each margin to `slope`, second to `bend`.

    An empty `weight` stands for ones.
    """
    total = 0.0
    for first in range(0, len(margin), _SHORT):
        mine = slice(first, first + _SHORT)
        z = margin[mine] * (1.0 / sigma)
        t = np.exp(-np.abs(z))
        whole = 1.0 + t
        share = 1.0 / whole
        # log(1 + t) with what the rounding of 1 + t lost; twice as fast as np.log1p.
        loss = np.log(whole) + (t - (whole - 1.0)) * share + np.maximum(-z, 0.0)
        w = weight[mine] if len(weight) else 1.0
        slope[mine] = (w * (-1.0 / sigma)) * (np.where(z < 0.0, 1.0, t) * share)
        bend[mine] = (w * (1.0 / sigma**2)) * (t * share * share)
        total += float(np.sum(w * loss))
    return total


def gather(x: Floats, pointer: Pointer, winner: Items, loser: Items, out: Floats) -> None:
    """``out[e] = x[i, winner[e]] - x[i, loser[e]]`` for the comparisons e of each row i of a block."""
    entries, mine = x.reshape(-1), slice(pointer[0], pointer[-1])
    row = _row_starts(x, pointer)
    out[mine] = entries[row + winner[mine]] - entries[row + loser[mine]]


def spread(into: Floats, pointer: Pointer, winner: Items, loser: Items, amount: Floats) -> None:
    """`gather` transposed: ``amount[e]`` to ``into[i, winner[e]]``, and its negative to that of the loser."""
    entries, mine = into.reshape(-1), slice(pointer[0], pointer[-1])
    row = _row_starts(into, pointer)
    np.add.at(entries, row + winner[mine], amount[mine])
    np.subtract.at(entries, row + loser[mine], amount[mine])


def _row_starts(x: Floats, pointer: Pointer) -> NDArray[np.intp]:
    return np.repeat(x.shape[1] * np.arange(len(x)), np.diff(pointer))


def margins(left: Array, right: Array, pointer: Pointer, winner: Items, loser: Items, out: Array) -> None:
    """``out[e] = left[i] @ (right[winner[e]] - right[loser[e]])`` for the comparisons e of every row i."""
    row = np.repeat(np.arange(len(left)), np.diff(pointer))
    for first in range(0, len(out), _BLOCK):
        mine = slice(first, first + _BLOCK)
        gap = right[winner[mine]] - right[loser[mine]]
        out[mine] = np.einsum("ea,ea->e", left[row[mine]], gap)


def pull(
    left: Array,
    right: Array,
    pointer: Pointer,
    winner: Items,
    loser: Items,
    amount: Array,
    to_left: Array,
    to_right: Array,
) -> None:
    """Add S right to `to_left` and S' left to `to_right`, S being what `spread` makes of zeros."""
    items = np.stack([winner, loser], axis=1).reshape(-1)
    amounts = np.stack([amount, -amount], axis=1).reshape(-1)
    matrix = sp.csr_array((amounts, items, 2 * pointer), shape=(len(left), len(right)))
    to_left += matrix @ right
    to_right += matrix.T @ left


def pull_along(
    left: Array,
    right: Array,
    pointer: Pointer,
    winner: Items,
    loser: Items,
    slope: Array,
    bend: Array,
    to_left: Array,
    to_right: Array,
) -> None:
    """Add how `pull` by `slope` changes along a direction, `bend` being how slopes change with margins.

    Both factors come side by side with their directions: ``left`` as (direction, factor), ``right`` as
    (factor, direction), so that ``left @ right.T`` is the change of the matrix.
    """
    rank = left.shape[1] // 2
    change = np.empty(len(winner))
    margins(left, right, pointer, winner, loser, change)
    change *= bend
    pull(left[:, rank:], right[:, :rank], pointer, winner, loser, change, to_left, to_right)
    pull(left[:, :rank], right[:, rank:], pointer, winner, loser, slope, to_left, to_right)


def exp_sum(x: Array, shift: float) -> float:
    """Sum of exp(x^2 - shift) over a block."""
    return float(_grown(x, shift).sum())


def exp_terms(x: Array, shift: float) -> float:
    """Sum of exp(x^2 - shift) over a block, whose entries become x exp(x^2 - shift)."""
    grown = _grown(x, shift)
    x *= grown
    return float(grown.sum())


def _exp_bends(x: Floats, d: Floats, shift: float, scale: float, growth: float) -> None:
    """`x` becomes x e, with e = scale exp(x^2 - shift), and `d`, its change, becomes the change of that.

    `growth` is the relative change of 1/scale, which is taken off before it is multiplied: where one
    entry outgrows the rest, the two nearly cancel.
    """
    grown = _grown(x, shift)
    grown *= scale
    d += x * (2.0 * x * d - growth)
    d *= grown
    x *= grown


def bend_rows(
    x: Floats,
    d: Floats,
    exponents: tuple[float, float, float],
    pointer: Pointer,
    winner: Items,
    loser: Items,
    slope: Floats,
    bend: Floats,
) -> None:
    """A block `x` of entries becomes the gradient by them, and `d`, its change, becomes the change of that.

    The gradient is that of the comparisons, `slope`, and of `_exp_bends`, whose numbers are `exponents`:
    shift, scale and growth. All arrays of numbers are in double precision, or all in single precision.
    """
    turn = np.empty(len(winner), x.dtype)
    gather(d, pointer, winner, loser, turn)
    turn *= bend
    _exp_bends(x, d, *exponents)
    spread(d, pointer, winner, loser, turn)
    spread(x, pointer, winner, loser, slope)


def _grown(x: Floats, shift: float) -> Floats:
    grown = x * x
    grown -= shift
    return np.exp(grown, out=grown)
