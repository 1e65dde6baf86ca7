"""Small problems: matrices to complete, comparisons of a few items, users drawn from the model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, stacked
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.objective.btl import BtlObjective
from optiframe_manifold.objective.completion import KnownEntries
from optiframe_manifold.problem import CollaborativeRanking

import optiframe
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


def compared(size: int = 8, count: int = 200, **more: Any) -> BtlObjective:
    """Random comparisons by `size` users of as many items, with a penalty as strong as for rank 2."""
    rng = np.random.default_rng(0)
    user = np.sort(rng.integers(size, size=count))
    winner = rng.integers(size, size=count)
    fields = {
        "users": size,
        "items": size,
        "winner": winner,
        "loser": (winner + rng.integers(1, size, size=count)) % size,
        "pointer": np.concatenate([[0], np.cumsum(np.bincount(user, minlength=size))]),
        "strength": 4 * math.sqrt(size) * math.log(size),
    }
    return BtlObjective(**(fields | more))


def drawn(users: int, items: int, density: float, *, rank: int = 2, seed: int = 0, **more: Any) -> Any:
    """A problem whose comparisons are drawn from the model."""
    data = {"name": "collaborative.low-rank", "users": users, "items": items, "rank": rank}
    problem = optiframe.problem(dataset=data | {"density": density, "seed": seed}, **more)
    assert isinstance(problem, CollaborativeRanking)
    return problem


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
