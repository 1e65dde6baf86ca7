"""Rankings of several items drawn from the Plackett-Luce model, with known truth."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataSet

Several = Annotated[int, Field(ge=2)]


class DrawnRankings(DataSet):
    """Rankings of items drawn at random, ordered by the Plackett-Luce model.

    Scores are normal; each ranking is of `length` items, drawn without replacement, of which the best
    `places` have a place.
    """

    name = "rankings.plackett-luce"
    problem = "listwise-ranking"
    reference = "Plackett 1975; Luce 1959"

    items: Several = Field(default=10, description="number of items")
    rankings: PositiveInt = Field(default=200, description="number of rankings")
    length: Several = Field(default=5, description="items in each ranking, at most `items`")
    places: PositiveInt | None = Field(
        default=None, description="places given in each ranking; None: all; 1: choices"
    )
    spread: NonNegativeFloat = Field(default=1.0, description="standard deviation of the scores")
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @model_validator(mode="after")
    def _enough_items(self) -> Self:
        if self.length > self.items:
            text = f"must be at most items ({self.items}), got {self.length}"
            raise InvalidInput(f"length: {text}", [(("length",), text)])
        return self

    def inputs(self) -> dict[str, Any]:
        truths, draws = (np.random.default_rng(one) for one in np.random.SeedSequence(self.seed).spawn(2))
        score = self.spread * truths.normal(size=self.items)
        kept = np.argsort(draws.random((self.rankings, self.items)), axis=1)[:, : self.length]
        # The order of scores with Gumbel noise is that of Plackett and Luce.
        order = np.argsort(-(score[kept] + draws.gumbel(size=kept.shape)), axis=1)
        position = np.tile(np.arange(1.0, self.length + 1), (self.rankings, 1))
        if self.places is not None:
            position[:, self.places :] = np.nan
        return {
            "rankings": {
                "ranking": np.repeat(np.arange(self.rankings), self.length),
                "item": np.take_along_axis(kept, order, axis=1).ravel(),
                "position": position.ravel(),
            },
            "truth": {"item": np.arange(self.items), "score": score},
        }
