"""Instances of the projection onto three-view sets, from easy to nasty, for benchmarks and tests.

`CASES` are those on which methods for the support program are slow: every combination of a shape (which
groups), of worths and of bounds. Shapes go from the square matrix to alternating chains; worths have ties and
near ties, thirty powers of ten, or are sums and products of a row's and a column's number, which defeat
Hungarian methods.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from optiframe_tvcs.projection.certificate import Bounds
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.three_view import ThreeView

from optiframe.records.fields import Array

KINDS = ("gaussian", "ties", "zeros", "equal", "pareto", "uncovered", "huge", "thin", "tight", "mixed")


class Instance(NamedTuple):
    """A point v and the views onto which it is projected."""

    v: Array
    bounds: Bounds


def set_of(instance: Instance) -> ThreeView:
    """The set with these views."""
    rows, row_caps, columns, column_caps, total = instance.bounds
    return ThreeView(rows=Groups(rows, row_caps), columns=Groups(columns, column_caps), total=total)


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


Labels = NDArray[np.int64]
Rng = np.random.Generator
Case = tuple[str, str, str]
"""Names of a shape, of worths and of bounds."""


def _square(rng: Rng, p: int) -> tuple[Labels, Labels]:
    side = int(p**0.5)
    return np.divmod(np.arange(side * side), side)


def _thin(rows: int, p: int) -> tuple[Labels, Labels]:
    return np.divmod(np.arange(p // rows * rows), p // rows)


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
    "three rows": lambda rng, p: _thin(3, p),
    "eight rows": lambda rng, p: _thin(8, p),
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


def _two_rows(rng: Rng, p: int) -> Instance:
    """Half of each row, and one a column."""
    each = max(p // 2, 2)
    row, column = np.indices((2, each), dtype=np.int32).reshape(2, -1)
    bounds = Bounds(row, np.full(2, each // 2), column, np.ones(each, np.int64), 2 * each)
    return Instance(rng.standard_normal(2 * each), bounds)


def _regular(rng: Rng, p: int, degree: int = 5) -> Instance:
    """Groups of `degree` elements in both views, at random, and one of each."""
    groups = max(p // degree, 1)
    labels = np.repeat(np.arange(groups, dtype=np.int32), degree)
    ones = np.ones(groups, np.int64)
    bounds = Bounds(labels, ones, rng.permutation(labels), ones.copy(), len(labels))
    return Instance(rng.standard_normal(len(labels)), bounds)


def _matching(rng: Rng, p: int) -> Instance:
    """Groups of five elements on average in both views, at random, and as many of one each as can be had.

    Worths differ by 2%, so that it is hardly ever worth while to have fewer.
    """
    groups = max(p // 5, 1)
    row, column = rng.integers(0, groups, (2, p)).astype(np.int32)
    ones = np.ones(groups, np.int64)
    return Instance(100 + rng.random(p), Bounds(row, ones, column, ones.copy(), groups))


def _whole(rng: Rng, made: Instance) -> Instance:
    return made._replace(v=rng.integers(1, 10, len(made.v)).astype(np.float64))


def _ones(rng: Rng, p: int) -> Instance:
    """A full matrix, one a row and one a column."""
    side = max(int(p**0.5), 1)
    row, column = np.indices((side, side), dtype=np.int32).reshape(2, -1)
    ones = np.ones(side, np.int64)
    return Instance(rng.standard_normal(side * side), Bounds(row, ones, column, ones.copy(), side))


def _total(rng: Rng, p: int) -> Instance:
    none, nothing = np.full(p, -1, np.int32), np.zeros(0, np.int64)
    return Instance(rng.standard_normal(p), Bounds(none, nothing, none, nothing, p // 5))


def _one_view(rng: Rng, p: int) -> Instance:
    none, nothing = np.full(p, -1, np.int32), np.zeros(0, np.int64)
    rows = rng.integers(0, max(p // 10, 1), p).astype(np.int32)
    return Instance(rng.standard_normal(p), Bounds(rows, np.full(max(p // 10, 1), 3), none, nothing, p // 5))


MORE: dict[str, Callable[[Rng, int], Instance]] = {
    "two rows": _two_rows,
    "regular": _regular,
    "regular of 3": lambda rng, p: _regular(rng, p, 3),
    "regular of 20": lambda rng, p: _regular(rng, p, 20),
    "regular, whole numbers": lambda rng, p: _whole(rng, _regular(rng, p)),
    "matching": _matching,
    "ones on a matrix": _ones,
    "ones on a matrix, whole numbers": lambda rng, p: _whole(rng, _ones(rng, p)),
    "total alone": _total,
    "one view": _one_view,
}
"""Instances beside `CASES`, by name."""


def more_instance(name: str, p: int, seed: int) -> Instance:
    """An instance of `MORE` of about p elements."""
    return MORE[name](np.random.default_rng(seed), p)


SPREADS = (
    "ordinary", "600 decades", "20 decades", "12 decades", "near ties", "near ties beside huge", "ties",
    "denormal", "cubes", "powers of two",
)  # fmt: skip


def spread_entries(rng: Rng, v: Array, spread: str) -> Array:
    """Entries whose squares, rounded to 50 bits, would often choose a support that is not the best."""
    p = len(v)
    signs = rng.choice([-1.0, 1.0], p)
    if spread.endswith("decades"):
        decades = int(spread.split(maxsplit=1)[0])
        top = 300 if decades == 600 else 0
        return np.asarray(signs * rng.random(p) * 10.0 ** rng.uniform(top - decades, top, p))
    made: dict[str, Callable[[], Any]] = {
        "ordinary": lambda: v,
        "near ties": lambda: signs * (1 + 2.0**-50 * rng.integers(0, 9, p)),
        "near ties beside huge": lambda: (
            np.where(rng.random(p) < 0.3, 1e9, 1.0) * (1 + 2.0**-52 * rng.integers(0, 5, p))
        ),
        "ties": lambda: rng.choice([0.0, 0.7, 0.7, -0.7, 0.1], p),
        "denormal": lambda: rng.integers(0, 4, p) * 5e-324,
        "cubes": lambda: rng.standard_normal(p) ** 9,
        "powers of two": lambda: 2.0 ** rng.integers(-30, 30, p),
    }
    return np.asarray(made[spread](), dtype=np.float64)


def improves(instance: Instance, support: NDArray[np.bool_], worths: list[int]) -> bool:
    """Whether a change along some cycle of groups gains: Bellman and Ford's method, nothing left out.

    In whole numbers, from no prices, with every element: slow, and right for worths of any size.
    """
    rows, row_caps, columns, column_caps, total = instance.bounds
    source = len(row_caps) + len(column_caps)
    sink = source + 1
    arcs = []
    for q, chosen, row, column in zip(worths, support.tolist(), rows.tolist(), columns.tolist(), strict=True):
        tail, head = row if row >= 0 else source, column + len(row_caps) if column >= 0 else sink
        if q > 0:
            arcs.append((head, tail, q) if chosen else (tail, head, -q))
    ends = [(source, i) for i in range(len(row_caps))]
    ends += [(len(row_caps) + j, sink) for j in range(len(column_caps))] + [(sink, source)]
    views = ((rows, len(row_caps)), (columns, len(column_caps)))
    counts = [np.bincount(each[support & (each >= 0)], minlength=n).tolist() for each, n in views]
    used = [*counts[0], *counts[1], int(support.sum())]
    caps = [*row_caps.tolist(), *column_caps.tolist(), int(total)]
    if any(count > cap for count, cap in zip(used, caps, strict=True)):
        return True  # not allowed at all
    for (tail, head), count, cap in zip(ends, used, caps, strict=True):
        arcs += [(tail, head, 0)] * (count < cap) + [(head, tail, 0)] * (count > 0)
    distance = [0] * (sink + 1)
    for _ in range(sink + 2):
        changed = False
        for tail, head, length in arcs:
            if distance[tail] + length < distance[head]:
                distance[head], changed = distance[tail] + length, True
        if not changed:
            return False
    return True
