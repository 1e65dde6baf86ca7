"""Instances on which methods for the support program are slow, for tests and benchmarks.

Every combination of a shape (which groups), of worths and of bounds. Shapes go from the square matrix to
alternating chains; worths have ties and near ties, thirty powers of ten, or are sums and products of a
row's and a column's number, which defeat Hungarian methods.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe_tvcs.datasets.generators import Instance
from optiframe_tvcs.projection.certificate import Bounds

Labels = NDArray[np.int64]
Rng = np.random.Generator
Case = tuple[str, str, str]
"""Names of a shape, of worths and of bounds."""


def _square(rng: Rng, p: int) -> tuple[Labels, Labels]:
    side = int(p**0.5)
    return np.divmod(np.arange(side * side), side)


def _thin(rng: Rng, p: int) -> tuple[Labels, Labels]:
    return np.divmod(np.arange(p // 3 * 3), p // 3)


def _pareto(rng: Rng, p: int) -> tuple[Labels, Labels]:
    side = int(p**0.5)
    shares = rng.pareto(1.1, (2, side)) + 1
    rows, columns = (rng.choice(side, p, p=share / share.sum()) for share in shares)
    return np.where(rng.random(p) < 0.05, -1, rows), columns


def _chain(rng: Rng, p: int) -> tuple[Labels, Labels]:
    """Row i shares a column with row i + 1: a change at one end may run through to the other."""
    rows = np.repeat(np.arange(p // 2), 2)
    return rows, rows + np.tile([0, 1], p // 2)


def _ladder(rng: Rng, p: int) -> tuple[Labels, Labels]:
    rows = np.repeat(np.arange(p // 4), 4)
    return rows, np.clip(rows + np.tile([-1, 0, 1, 2], p // 4), 0, p // 4 - 1)


SHAPES: dict[str, Callable[[Rng, int], tuple[Labels, Labels]]] = {
    "square": _square,
    "one row": lambda rng, p: (np.zeros(p, np.int64), np.arange(p)),
    "one column": lambda rng, p: (np.arange(p), np.zeros(p, np.int64)),
    "three rows": _thin,
    "a row each": lambda rng, p: (np.arange(p), rng.integers(0, max(2, p // 100), p)),
    "tiny groups": lambda rng, p: (rng.integers(0, max(2, p // 26), p), rng.integers(0, int(0.8 * p), p)),
    "pareto": _pareto,
    "sparse": lambda rng, p: tuple(rng.integers(0, p // 5, (2, p))),
    "chain": _chain,
    "ladder": _ladder,
}
WORTHS: dict[str, Callable[[Rng, Labels, Labels], Any]] = {
    "gaussian": lambda rng, i, j: rng.standard_normal(len(i)) ** 2,
    "1 to 9": lambda rng, i, j: rng.integers(1, 10, len(i)),
    "1 or 2": lambda rng, i, j: rng.integers(1, 3, len(i)),
    "few values": lambda rng, i, j: rng.choice(rng.random(len(i) // 10 + 1), len(i)),
    "1 + 1e-6": lambda rng, i, j: 1 + 1e-6 * rng.random(len(i)),
    "1 + 1e-12": lambda rng, i, j: 1 + 1e-12 * rng.random(len(i)),
    "wide": lambda rng, i, j: np.exp(16 * rng.standard_normal(len(i)).clip(-2.2, 2.2)),
    "product": lambda rng, i, j: (i + 2.0) * (j + 1.0),
    "product down": lambda rng, i, j: (i.max() + 2.0) * (j.max() + 2.0) - (i + 1.0) * (j + 1.0),
    "sum": lambda rng, i, j: (
        1.0 + rng.integers(0, 1000, i.max() + 2)[i] + rng.integers(0, 1000, j.max() + 1)[j]
    ),
}
BOUNDS: dict[str, Callable[[Rng, Any], Any]] = {
    "1": lambda rng, size: np.ones_like(size),
    "2": lambda rng, size: np.full_like(size, 2),
    "half": lambda rng, size: size // 2 + 1,
    "uniform": lambda rng, size: rng.integers(1, np.maximum(size, 1) + 1),
}

CASES: tuple[Case, ...] = tuple(product(SHAPES, WORTHS, BOUNDS))


def adversarial_instance(case: Case, p: int, seed: int) -> Instance:
    """An instance of about p elements; the total is .8 of the smaller sum of bounds."""
    shape, worths, bounds = case
    rng = np.random.default_rng(seed)
    rows, columns = SHAPES[shape](rng, p)
    weights = np.asarray(WORTHS[worths](rng, rows, columns), dtype=np.float64)
    caps = [BOUNDS[bounds](rng, np.bincount(labels[labels >= 0])) for labels in (rows, columns)]
    total = max(1, int(0.8 * min(len(rows), *(int(cap.sum()) for cap in caps))))
    views = Bounds(rows.astype(np.int32), caps[0], columns.astype(np.int32), caps[1], total)
    return Instance(np.sqrt(weights), views)
