"""Random instances of the support program, from easy to nasty, for tests and benchmarks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.projection.certificate import Bounds

KINDS = ("gaussian", "ties", "zeros", "equal", "pareto", "uncovered", "huge", "thin", "tight", "mixed")


class Instance(NamedTuple):
    """A point v and the views onto which it is projected."""

    v: Array
    bounds: Bounds


def paper_instance(rng: np.random.Generator, side: int, v: Array | None = None) -> Instance:
    """The paper's set-up: a square matrix, row and column bounds uniform in [1, side].

    The total is .8 of the smaller sum of bounds.
    """
    row, column = np.indices((side, side), dtype=np.int32).reshape(2, -1)
    rows, columns = rng.integers(1, side + 1, (2, side))
    total = int(0.8 * min(rows.sum(), columns.sum()))
    v = rng.standard_normal(side * side) if v is None else v
    return Instance(v, Bounds(row, rows, column, columns, total))


def hard_instance(rng: np.random.Generator, side: int, kind: str) -> Instance:
    """A large instance of p = side**2 that defeats methods tuned to random squares.

    "ties" has whole v in 0..9, "equal" one value, "pareto" group sizes drawn by weights of Pareto
    index 1.5 and 5% of the elements in no group of a view, "huge" a single row group.
    """
    plain = paper_instance(rng, side)
    p = side * side
    if kind == "ties":
        return plain._replace(v=rng.integers(0, 10, p).astype(np.float64))
    if kind == "equal":
        return plain._replace(v=np.full(p, 0.61))
    if kind == "huge":
        bounds = plain.bounds._replace(
            row_labels=np.zeros(p, dtype=np.int32),
            row_caps=np.array([p // 2]),
            total=int(0.8 * min(p // 2, plain.bounds.column_caps.sum())),
        )
        return plain._replace(bounds=bounds)
    if kind != "pareto":
        return plain
    rows, row_caps = _pareto_groups(rng, p, side)
    columns, column_caps = _pareto_groups(rng, p, side)
    total = int(0.8 * min(row_caps.sum(), column_caps.sum()))
    return plain._replace(
        bounds=Bounds(rows.astype(np.int32), row_caps, columns.astype(np.int32), column_caps, total)
    )


def random_instance(rng: np.random.Generator, kind: str, largest: int = 2000) -> Instance:
    """A random instance of 1 to about `largest` elements, of one of `KINDS`.

    All but "gaussian" are degenerate in some way: ties, zeros, one value, groups of very
    different size, elements in no group, one group for all, a long and thin matrix, bounds of
    0 and 1, or all of this mixed.
    """
    p = int(np.exp(rng.uniform(0, np.log(largest))))
    m, n = (int(k) for k in np.exp(rng.uniform(0, np.log(p + 1), 2)).clip(1))
    rows, columns = rng.integers(0, m, p), rng.integers(0, n, p)
    v = rng.standard_normal(p)
    if kind == "thin":
        columns = np.arange(p) // max(p // 3, 1)
        n = int(columns.max()) + 1
    if kind == "huge":
        rows, m = np.zeros(p, dtype=np.int64), 1
    row_size, column_size = np.bincount(rows, minlength=m), np.bincount(columns, minlength=n)
    row_caps, column_caps = rng.integers(0, row_size + 2), rng.integers(0, column_size + 2)
    total = int(rng.integers(0, p + 2))
    if kind in {"ties", "mixed"}:
        v = rng.integers(-4, 5, p).astype(np.float64)
    elif kind == "zeros":
        v[rng.random(p) < 0.5] = 0.0
    elif kind == "equal":
        v = np.full(p, float(rng.choice([1.0, 0.37, 1e-9])))
    if kind in {"pareto", "mixed"}:
        (rows, row_caps), (columns, column_caps) = _pareto_groups(rng, p, m), _pareto_groups(rng, p, n)
    if kind in {"uncovered", "mixed"}:
        rows, columns = (np.where(rng.random(p) < 0.3, -1, g) for g in (rows, columns))
    if kind == "tight":
        row_caps, column_caps = rng.integers(0, 3, m), rng.integers(0, 3, n)
    if kind in {"gaussian", "thin"}:
        total = int(0.8 * min(row_caps.sum(), column_caps.sum()))
    if rng.random() < 0.1:
        row_caps = row_caps + p  # far more than there is
    return Instance(
        v,
        Bounds(
            rows.astype(np.int32), row_caps.astype(np.int64), columns.astype(np.int32),
            column_caps.astype(np.int64), total,
        ),
    )  # fmt: skip


def _pareto_groups(
    rng: np.random.Generator, p: int, groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels of groups with Pareto-sized shares, 5% in none, and bounds uniform in [1, size]."""
    share = rng.pareto(1.5, groups) + 1
    labels = rng.choice(groups, p, p=share / share.sum())
    caps = rng.integers(1, np.maximum(np.bincount(labels, minlength=groups), 1) + 1)
    labels[rng.random(p) < 0.05] = -1
    return labels.astype(np.int64), caps
