"""Comparisons drawn from the model, with known scores: the simulations of the paper."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataSet
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.btl import Scale


class LowRankScores(DataSet):
    """Users whose scores are of low rank, each comparison drawn from the model (Sec. VI).

    X* = U V', the entries of U and V uniform on [-1/2, 1/2], then scaled to max |X*| = 1. There
    are round(d r K log K) comparisons (natural logarithm), K = sqrt(users x items); each is drawn
    by itself, with replacement: a user, and an ordered pair of different items, all equally
    likely. So some users may have few comparisons, and a pair may come twice. The winner is drawn
    from the Bradley-Terry-Luce model. Users and items are numbered from 0.

    The problem takes on the rank and sigma of the drawing, unless told otherwise.
    """

    problem = "collaborative-ranking"
    name = "collaborative.low-rank"
    reference = "Dong et al., Sec. VI"

    users: Annotated[int, Field(ge=2)] = Field(
        default=200, description="number of users; the paper has K of both"
    )
    items: Annotated[int, Field(ge=2)] = Field(default=200, description="number of items")
    rank: PositiveInt = Field(default=10, description="rank of the scores, r")
    density: PositiveFloat = Field(default=5.0, description="rescaled sample size, d; the paper's 1 to 15")
    sigma: Scale = Field(default=0.18, description="scale of the model")
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.rank > min(self.users, self.items):
            text = f"is more than the {min(self.users, self.items)} a {self.users} x {self.items} matrix has"
            raise InvalidInput(f"rank: {text}", [(("rank",), text)])
        return self

    @property
    def comparisons(self) -> int:
        """Number of comparisons: round(d r K log K), at least 1."""
        size = math.sqrt(self.users * self.items)
        return max(1, round(self.density * self.rank * size * math.log(size)))

    def scores(self) -> LowRank:
        """X*, scaled; O(users items r) time for its largest magnitude."""
        rng = np.random.default_rng(self._streams()[0])
        u = rng.uniform(-0.5, 0.5, (self.users, self.rank))
        v = rng.uniform(-0.5, 0.5, (self.items, self.rank))
        return LowRank(u / LowRank(u, v).largest(), v)

    def _streams(self) -> list[np.random.SeedSequence]:
        """Of scores, pairs and winners, so that more comparisons do not change the scores."""
        return np.random.SeedSequence(self.seed).spawn(3)

    def inputs(self) -> dict[str, Any]:
        """The comparisons, all users and items, the truth, and the rank and sigma of the drawing."""
        _, pairs, winners = map(np.random.default_rng, self._streams())
        truth, rows = self.scores(), self.comparisons
        user = pairs.integers(self.users, size=rows)
        left = pairs.integers(self.items, size=rows)
        right = (left + pairs.integers(1, self.items, size=rows)) % self.items
        gap = truth.at(user, left) - truth.at(user, right)
        left_wins = winners.random(rows) < 0.5 + 0.5 * np.tanh(gap / (2 * self.sigma))
        return {
            "comparisons": {
                "user": user,
                "left": left,
                "right": right,
                "label": np.where(left_wins, left, right),
            },
            "users": np.arange(self.users),
            "items": np.arange(self.items),
            "truth": truth,
            "rank": self.rank,
            "sigma": self.sigma,
        }
