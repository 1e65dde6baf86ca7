"""Comparisons drawn from the model, with known truth: the simulations of the HodgeRank paper."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataSet
from optiframe.records.fields import Array

Integers = NDArray[np.int64]
Share = Annotated[float, Field(ge=0, le=1)]


class _Drawn(DataSet):
    """What the generators share: a seed with separate streams, so that one draw does not shift another."""

    problem = "pairwise-ranking"

    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    def _streams(self) -> list[np.random.Generator]:
        """Of truth, pairs, outliers and noise, in this order."""
        return [np.random.default_rng(one) for one in np.random.SeedSequence(self.seed).spawn(4)]


def _some(rng: np.random.Generator, rows: int, share: float) -> NDArray[np.bool_]:
    """Exactly the nearest number to that share of the rows, drawn with equal chance."""
    chosen = np.zeros(rows, dtype=bool)
    chosen[rng.choice(rows, round(share * rows), replace=False)] = True
    return chosen


def _pairs(rng: np.random.Generator, items: int, rows: int) -> tuple[Integers, Integers]:
    """Ordered pairs of different items, each with equal chance."""
    left = rng.integers(items, size=rows)
    return left, (left + rng.integers(1, items, size=rows)) % items


class RandomOrder(_Drawn):
    """A random total order compared at random, some of the comparisons reversed (Experiment I).

    `comparisons` pairs are drawn with replacement, each with equal chance and either way
    round; the better item wins, but in exactly the nearest number to `outlier_share` of them.
    The truth is the place in the order, so its unit means nothing: 1 is the worst.
    """

    name = "pairwise.random-order"
    reference = "Xu et al., Sec. 5.1.1, Figures 4 to 6"

    items: Annotated[int, Field(ge=2)] = Field(default=16, description="number of items; the paper's 16")
    comparisons: PositiveInt = Field(default=2000, description="number of comparisons, SN")
    outlier_share: Share = Field(default=0.05, description="share of comparisons reversed, OP")

    def inputs(self) -> dict[str, Any]:
        order, pairs, outliers, _ = self._streams()
        place = order.permutation(self.items) + 1
        left, right = _pairs(pairs, self.items, self.comparisons)
        wrong = _some(outliers, self.comparisons, self.outlier_share)
        left_wins = (place[left] > place[right]) != wrong
        return {
            "comparisons": {"left": left, "right": right, "label": np.where(left_wins, left, right)},
            "truth": {"item": np.arange(self.items), "score": place},
            "outlier_truth": wrong,
        }


class Bias(_Drawn):
    """Real margins with Gaussian noise and a few large outliers, to compare biases (Figure 2).

    Scores are uniform on (0, 1), noise is N(0, sigma^2). The paper gives no outliers: here they are
    +-`outlier_size` on exactly the nearest number to `outlier_share` of the comparisons, which at
    sigma = 0.1 stand ten standard deviations out.
    """

    name = "pairwise.bias"
    reference = "Xu et al., Sec. 4, Figure 2"

    items: Annotated[int, Field(ge=2)] = Field(default=10, description="number of items")
    comparisons: PositiveInt = Field(default=100, description="number of comparisons")
    sigma: NonNegativeFloat = Field(default=0.1, description="standard deviation of the noise")
    outlier_share: Share = Field(default=0.1, description="share of comparisons that are outliers; ours")
    outlier_size: NonNegativeFloat = Field(
        default=1.0, description="size of an outlier, of either sign; ours"
    )

    def inputs(self) -> dict[str, Any]:
        truths, pairs, outliers, noise = self._streams()
        theta = truths.random(self.items)
        return _noisy(self, theta, _pairs(pairs, self.items, self.comparisons), outliers, noise)


class Image(_Drawn):
    """An image to be rebuilt from differences of near pixels, some of them wrong (Experiment II).

    Every two pixels at most `reach` rows and columns apart are compared once: 346,737 comparisons
    of 29,322 pixels by default, as in the paper. The margin is the difference of intensities (in
    [0, 1]) plus N(0, sigma^2), and +-`outlier_size` on exactly the nearest number to
    `outlier_share` of them. Items are pixel numbers, row by row.

    The paper's photograph is not published; this image is drawn (a shaded ground with discs, a bar
    and stripes), the same for every seed. `picture()` gives it.
    """

    name = "pairwise.image"
    reference = "Xu et al., Sec. 5.1.2, Figure 7"

    height: Annotated[int, Field(ge=2)] = Field(default=181, description="rows of pixels")
    width: Annotated[int, Field(ge=2)] = Field(default=162, description="columns of pixels")
    reach: PositiveInt = Field(
        default=2, description="compared pixels are so many rows or columns apart; 2: 5 x 5"
    )
    sigma: NonNegativeFloat = Field(default=0.05, description="standard deviation of the noise")
    outlier_share: Share = Field(default=0.1, description="share of comparisons that are outliers")
    outlier_size: NonNegativeFloat = Field(default=0.5, description="size of an outlier, of either sign")

    def picture(self) -> Array:
        """Intensities in [0, 1], shape (height, width)."""
        down, across = np.mgrid[0 : self.height, 0 : self.width]
        y, x = down / max(self.height - 1, 1), across / max(self.width - 1, 1)
        image = 0.25 + 0.3 * x + 0.15 * np.sin(3.0 * np.pi * y)  # smooth shading
        image = np.where((x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.04, 0.9, image)  # edges, as a photograph has
        image = np.where((x - 0.35) ** 2 + (y - 0.3) ** 2 < 0.005, 0.1, image)
        image = np.where((np.abs(x - 0.75) < 0.08) & (y < 0.6), 0.05, image)
        striped = (y > 0.7) & (x > 0.2) & (x < 0.8)
        image = np.where(striped, 0.5 + 0.4 * np.sign(np.sin(24.0 * np.pi * x)), image)
        return np.asarray((image - image.min()) / (image.max() - image.min()))

    def pairs(self) -> tuple[Integers, Integers]:
        """Pixel numbers of every comparison, the first before the second in reading order."""
        number = np.arange(self.height * self.width).reshape(self.height, self.width)
        left, right = [], []
        for down in range(min(self.reach, self.height - 1) + 1):
            for across in range(-self.reach, self.reach + 1):
                if (down == 0 and across <= 0) or abs(across) >= self.width:
                    continue
                from_, to = max(0, -across), self.width - max(0, across)
                left.append(number[: self.height - down, from_:to].ravel())
                right.append(number[down:, from_ + across : to + across].ravel())
        return np.concatenate(left), np.concatenate(right)

    def inputs(self) -> dict[str, Any]:
        _, _, outliers, noise = self._streams()
        return _noisy(self, self.picture().ravel(), self.pairs(), outliers, noise)


def _noisy(
    data: Bias | Image,
    theta: Array,
    pairs: tuple[Integers, Integers],
    outliers: np.random.Generator,
    noise: np.random.Generator,
) -> dict[str, Any]:
    """Comparisons whose margins are differences of scores with noise, and some outliers of either sign."""
    left, right = pairs
    wrong = _some(outliers, len(left), data.outlier_share)
    size = data.outlier_size * outliers.choice([-1.0, 1.0], len(left))
    margin = theta[left] - theta[right] + data.sigma * noise.standard_normal(len(left))
    return {
        "comparisons": {"left": left, "right": right, "margin": margin + wrong * size},
        "truth": {"item": np.arange(len(theta)), "score": theta},
        "outlier_truth": wrong,
    }


class Bipartite(_Drawn):
    """Good and bad items, every good one compared with every bad one, some votes flipped.

    The number of votes of a pair is uniform over the whole numbers from `least_votes` to `most_votes`;
    exactly the nearest number to `outlier_share` of all votes is flipped. Items 1 to `positive`
    are the good ones (truth 1), the others bad (truth 0). The defaults are those of Figure 21
    (50 + 50, 5 to 15 votes); Figure 23 has 20 + 20 and 5 to 100. The metrics `score_gap` and
    `score_spread` say how clearly the two groups come apart.
    """

    name = "pairwise.bipartite"
    reference = "Xu et al., Secs. 5.2.4 and 5.2.5, Figures 21 to 24"

    positive: PositiveInt = Field(default=50, description="number of good items")
    negative: PositiveInt = Field(default=50, description="number of bad items")
    least_votes: PositiveInt = Field(default=5, description="least number of votes of a pair")
    most_votes: PositiveInt = Field(default=15, description="greatest number of votes of a pair")
    outlier_share: Share = Field(default=0.1, description="share of votes flipped")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.least_votes > self.most_votes:
            text = f"is above most_votes ({self.least_votes} > {self.most_votes})"
            raise InvalidInput(f"least_votes: {text}", [(("least_votes",), text)])
        return self

    def inputs(self) -> dict[str, Any]:
        _, pairs, outliers, _ = self._streams()
        good = np.repeat(np.arange(1, self.positive + 1), self.negative)
        bad = np.tile(np.arange(self.positive + 1, self.positive + self.negative + 1), self.positive)
        votes = pairs.integers(self.least_votes, self.most_votes, size=len(good), endpoint=True)
        left, right = np.repeat(good, votes), np.repeat(bad, votes)
        wrong = _some(outliers, len(left), self.outlier_share)
        items = np.arange(1, self.positive + self.negative + 1)
        return {
            "comparisons": {"left": left, "right": right, "label": np.where(wrong, right, left)},
            "truth": {"item": items, "score": (items <= self.positive).astype(np.int64)},
            "outlier_truth": wrong,
        }
