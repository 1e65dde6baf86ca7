"""Small completion problems with a planted answer, and the slow twins of what is tested."""

from __future__ import annotations

import numpy as np
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, stacked
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.objective.completion import KnownEntries

from optiframe import Minimize
from optiframe.records.fields import Array


def random_factors(rows: int, columns: int, rank: int, rng: np.random.Generator) -> LowRank:
    return LowRank(rng.standard_normal((rows, rank)), rng.standard_normal((columns, rank)))


def planted(
    seed: int = 0,
    *,
    rows: int = 14,
    columns: int = 11,
    rank: int = 2,
    share: float = 0.7,
    ridge: float = 0.0,
) -> tuple[Minimize, LowRank]:
    """Some entries of a random matrix of the given rank, and the whole matrix."""
    rng = np.random.default_rng(seed)
    truth = random_factors(rows, columns, rank, rng)
    row, column = np.nonzero(rng.random((rows, columns)) < share)
    known = KnownEntries(
        rows=rows, columns=columns, row=row, column=column, entry=truth.at(row, column), ridge=ridge
    )
    return Minimize(known, over=Rank(rows, columns, rank)), truth


def noisy(seed: int = 0) -> Minimize:
    """No matrix of the rank fits, so that the least value is not zero."""
    rng = np.random.default_rng(seed)
    row, column = np.nonzero(rng.random((9, 8)) < 0.8)
    known = KnownEntries(
        rows=9, columns=8, row=row, column=column, entry=rng.standard_normal(len(row)), ridge=0.3
    )
    return Minimize(known, over=Rank(9, 8, 2))


class Terrain:
    """An objective over factors with its Riemannian derivatives, point by point."""

    def __init__(self, problem: Minimize) -> None:
        self.f = problem.function
        self.geometry = FixedRank(problem.over.rows, problem.over.columns, problem.over.rank)

    def value(self, point: Factors) -> float:
        return self.f.value(point.matrix)

    def ambient(self, point: Factors) -> Array:
        return stacked(self.f.gradient(point.matrix))

    def gradient(self, point: Factors) -> Array:
        return self.geometry.euclidean_to_riemannian_gradient(point, self.ambient(point))

    def hessian(self, point: Factors, v: Array) -> Array:
        change = stacked(self.f.hessian_product(point.matrix, LowRank(*self.geometry.split(v))))
        return self.geometry.euclidean_to_riemannian_hessian(point, self.ambient(point), change, v)
