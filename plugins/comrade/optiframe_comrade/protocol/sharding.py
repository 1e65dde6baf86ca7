"""Sharding the terms of an objective among workers, and whether their order would show."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import chdtri

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array

Sharding: TypeAlias = Literal["random", "in-order"]

_LOOKED_AT = 200  # rows of each worker whose features are compared; tells shifts of a fifth of a deviation
_ENTRIES = 1 << 20  # looked at at most: a few milliseconds
_TOO_FEW = 50  # rows of a worker; of fewer, chance alone looks like an order
# Share of a column's variance that may lie between workers. In order of the column itself it is nearly 1.
_NOTICED = 0.05
_FALSE_ALARM = 1e-4  # chance of one on unordered rows, over all columns


class Placed(FiniteSum):
    """A finite sum whose terms have been shared out, and lie with the workers of a backend."""

    backend: ClassVar[str]  # the name of the one that knows where

    @property
    @abstractmethod
    def placed(self) -> Sequence[FiniteSum]:
        """What stands for each worker's terms here; the backend finds them."""


def make_shards(f: FiniteSum, workers: int, sharding: Sharding, rng: np.random.Generator) -> list[FiniteSum]:
    """Each worker's terms, as evenly as possible: sizes differ by at most one.

    At random they are copied. In order, of a linear model whose matrix is dense and stored by rows, they
    are views: no time and no memory. Terms that have their places stay there.
    """
    if isinstance(f, Placed):
        return list(f.placed)
    if sharding == "random":
        return [f.take(terms) for terms in split(len(f), workers, rng)]
    ends = _ends(len(f), workers)
    if isinstance(f, LinearModel) and not sp.issparse(f.matrix) and f.matrix.flags.c_contiguous:
        return [f.take(slice(*each)) for each in ends]
    return [f.take(np.arange(*each)) for each in ends]


def split(terms: int, workers: int, rng: np.random.Generator) -> list[Sequence[int]]:
    """Terms shared out at random, as evenly as possible: sizes differ by at most one."""
    parts = np.array_split(rng.permutation(terms), workers)
    # In order of the rows, so that taking a shard reads the matrix once from front to back.
    return [np.sort(part) for part in parts]  # type: ignore[misc]  # an array of integers is a sequence here


def visible_order(f: FiniteSum, workers: int) -> str | None:
    """What differs from worker to worker when the terms are shared out in order; None: nothing.

    Labels are compared over all rows, features over some: a look, not a test.
    """
    if not isinstance(f, LinearModel) or len(f) < workers * _TOO_FEW:
        return None
    ends = _ends(len(f), workers)
    if _ordered([f.target[start:stop, np.newaxis] for start, stop in ends]) is not None:
        return "the labels change"
    most = max(_TOO_FEW, min(_LOOKED_AT, _ENTRIES // (workers * f.shape[0])))
    column = _ordered([_some(f.matrix[start:stop], most) for start, stop in ends])
    return None if column is None else f"column {column} changes"


def _ends(terms: int, workers: int) -> list[tuple[int, int]]:
    ends = np.linspace(0, terms, workers + 1).astype(int)
    return [(int(start), int(stop)) for start, stop in pairwise(ends)]


def _some(rows: Any, most: int) -> Array:
    """Evenly spaced rows, dense."""
    some = rows[:: max(1, rows.shape[0] // most)]
    return np.asarray(some.toarray() if sp.issparse(some) else some)


def _ordered(groups: list[Array]) -> int | None:
    """The column that differs most between groups of rows, if by more than chance makes; else None."""
    spread = _between(groups)
    # Of unordered rows, and times their number, the share is about chi-squared.
    rows, freedom = sum(len(group) for group in groups), len(groups) - 1
    noticed = max(_NOTICED, float(chdtri(freedom, _FALSE_ALARM / len(spread))) / rows) if freedom else 1.0
    column = int(np.argmax(spread))
    return column if spread[column] > noticed else None


def _between(groups: list[Array]) -> Array:
    """The share of each column's variance that lies between groups of rows; 0 for a constant column."""
    sizes = np.array([len(group) for group in groups], dtype=np.float64)[:, np.newaxis]
    means = np.array([group.mean(axis=0) for group in groups])
    middle = (sizes * means).sum(axis=0) / sizes.sum()
    within = sum(((group - mean) ** 2).sum(axis=0) for group, mean in zip(groups, means, strict=True))
    between = (sizes * (means - middle) ** 2).sum(axis=0)
    total = within + between
    varies = total > 1e-12 * (sizes * means**2).sum(axis=0)  # more than rounding makes of a constant
    return np.asarray(np.divide(between, total, out=np.zeros_like(total), where=varies))
