"""The passes over comparisons and blocks of rows, in NumPy.

A block is some consecutive rows of an m x n matrix, an array of shape (rows, n) that fits in a
cache; `pointer` (rows + 1) says where each row's comparisons begin and end in `winner` and
`loser` (places of items) and in the arrays of one number for each comparison. Results are
written where the last arguments say. `optiframe_manifold.kernels` has the same functions
compiled, for big inputs.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.values import Array

Pointer = NDArray[np.int64]
Items = NDArray[np.int32]

_BLOCK = 1 << 16  # comparisons whose rows of the factors are looked up at a time: 10 MB at rank 10


def log_loss(margin: Array, sigma: float, weight: Array, slope: Array, bend: Array) -> float:
    """Sum of w log(1 + exp(-margin/sigma)); its derivatives by each margin to `slope`, second to `bend`.

    An empty `weight` stands for ones.
    """
    total = 0.0
    for first in range(0, len(margin), _BLOCK):
        mine = slice(first, first + _BLOCK)
        z = margin[mine] / sigma
        t = np.exp(-np.abs(z))
        unlikely = t / (1.0 + t)  # probability of the outcome that the margin speaks against
        loss = np.maximum(-z, 0.0) + np.log1p(t)
        w = weight[mine] if len(weight) else 1.0
        slope[mine] = (-w / sigma) * np.where(z >= 0.0, unlikely, 1.0 - unlikely)
        bend[mine] = (w / (sigma * sigma)) * (unlikely / (1.0 + t))
        total += float(np.sum(w * loss))
    return total


def gather(x: Array, pointer: Pointer, winner: Items, loser: Items, out: Array) -> None:
    """``out[e] = x[i, winner[e]] - x[i, loser[e]]`` for the comparisons e of each row i of a block."""
    entries, mine = x.reshape(-1), slice(pointer[0], pointer[-1])
    row = _row_starts(x, pointer)
    out[mine] = entries[row + winner[mine]] - entries[row + loser[mine]]


def spread(into: Array, pointer: Pointer, winner: Items, loser: Items, amount: Array) -> None:
    """Add ``amount[e]`` to ``into[i, winner[e]]`` and take it from ``into[i, loser[e]]``: gather transposed."""
    entries, mine = into.reshape(-1), slice(pointer[0], pointer[-1])
    row = _row_starts(into, pointer)
    np.add.at(entries, row + winner[mine], amount[mine])
    np.subtract.at(entries, row + loser[mine], amount[mine])


def _row_starts(x: Array, pointer: Pointer) -> NDArray[np.intp]:
    return np.repeat(np.arange(0, x.size, x.shape[1]), np.diff(pointer))


def margins(left: Array, right: Array, pointer: Pointer, winner: Items, loser: Items, out: Array) -> None:  # noqa: PLR0917  # as its twin
    """``out[e] = left[i] @ (right[winner[e]] - right[loser[e]])`` for the comparisons e of every row i."""
    row = np.repeat(np.arange(len(left)), np.diff(pointer))
    for first in range(0, len(out), _BLOCK):
        mine = slice(first, first + _BLOCK)
        gap = right[winner[mine]] - right[loser[mine]]
        out[mine] = np.einsum("ea,ea->e", left[row[mine]], gap)


def pull(  # noqa: PLR0917  # as its twin
    left: Array,
    right: Array,
    pointer: Pointer,
    winner: Items,
    loser: Items,
    amount: Array,
    to_left: Array,
    to_right: Array,
) -> None:
    """Add S right to `to_left` and S' left to `to_right`; S is m x n, zero but for `amount` as in `spread`."""
    items = np.stack([winner, loser], axis=1).reshape(-1)
    amounts = np.stack([amount, -amount], axis=1).reshape(-1)
    matrix = sp.csr_array((amounts, items, 2 * pointer), shape=(len(left), len(right)))
    to_left += matrix @ right
    to_right += matrix.T @ left


def exp_sum(x: Array, shift: float) -> float:
    """Sum of exp(x^2 - shift) over a block."""
    return float(_grown(x, shift).sum())


def exp_terms(x: Array, shift: float) -> float:
    """Sum of exp(x^2 - shift) over a block, whose entries become x exp(x^2 - shift)."""
    grown = _grown(x, shift)
    x *= grown
    return float(grown.sum())


def exp_bends(x: Array, d: Array, shift: float, scale: float) -> None:
    """With e = scale exp(x^2 - shift): `x` becomes x e, and `d` becomes its derivative, d e (1 + 2 x^2)."""
    grown = _grown(x, shift)
    grown *= scale
    d *= grown
    d *= 1.0 + 2.0 * x * x
    x *= grown


def _grown(x: Array, shift: float) -> Array:
    grown = x * x
    grown -= shift
    return np.exp(grown, out=grown)


_WORTH_COMPILING = 200_000
"""Comparisons from which the compiled passes are used: see `passes_for`."""


def passes_for(comparisons: int) -> ModuleType:
    """The compiled passes where they pay and numba is installed; this module otherwise."""
    compiled = _compiled() if comparisons >= _WORTH_COMPILING else None
    return import_module(__name__) if compiled is None else compiled


@cache
def _compiled() -> ModuleType | None:
    try:
        return import_module("optiframe_manifold.kernels")
    except ImportError:  # not installed, or not for this version of NumPy
        return None
