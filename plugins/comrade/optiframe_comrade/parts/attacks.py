"""Attacks: what hostile workers do. Faults (crashes, garbled replies) are in `faults`.

Some know what the honest workers send, the strongest assumption there is; the coordinator they
attack knows nothing of who is who.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat
from scipy.special import ndtri

from optiframe.errors import Unsuited
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.parts import robust_means
from optiframe_comrade.parts.kinds import Attack, Situation


class Negative(Attack):
    """Sends -c times the update it computed, so that the average moves the wrong way."""

    name = "attack.negative"
    reference = "Ghosh et al., Sec. 6; c = 0.9"

    c: PositiveFloat = Field(
        default=0.9, description="factor of the reversed update; below 1 the filter by norm does not see it"
    )

    def falsify(self, vector: Array, situation: Situation) -> Array:
        return -self.c * vector


def _known(situation: Situation) -> Array:
    """What the honest workers send; the backend has refused the attack where it cannot know it."""
    if situation.honest is None or not len(situation.honest):
        raise Unsuited("this attack needs to know what the honest workers send, and it does not")
    return situation.honest


def _zero_one(target: Array) -> bool:
    """Whether these are labels 0 and 1; all 1 are taken for labels -1 and 1."""
    return bool(((target == 0.0) | (target == 1.0)).all() and (target == 0.0).any())


class _OnLabels(Attack):
    """An attack on the worker's own data, which it then works with honestly."""

    def poison(self, shard: FiniteSum, rng: np.random.Generator) -> FiniteSum:
        target = getattr(shard, "target", None)
        if not isinstance(target, np.ndarray):
            raise Unsuited(
                f"{self.name} changes labels, and the objective {shard.name or type(shard).__name__!r} "
                "has no `target`; attack the updates instead, for example with attack.negative"
            )
        return shard.model_copy(update={"target": self.labels(target, rng)})

    @abstractmethod
    def labels(self, target: Array, rng: np.random.Generator) -> Array:
        """The labels it learns from, in place of its own."""


class FlippedLabels(_OnLabels):
    """Learns from its data with every label turned: -1 and 1, or 0 and 1, swapped; other targets negated."""

    name = "attack.flipped-labels"
    reference = "Ghosh et al., Sec. 6"

    def labels(self, target: Array, rng: np.random.Generator) -> Array:
        return 1 - target if _zero_one(target) else -target


class RandomLabels(_OnLabels):
    """Learns from labels (-1 and 1, or 0 and 1) tossed by a coin; other targets are shuffled."""

    name = "attack.random-labels"
    reference = "Ghosh et al., Appendix (further experiments)"

    def labels(self, target: Array, rng: np.random.Generator) -> Array:
        if _zero_one(target):
            return rng.choice([0.0, 1.0], target.shape)
        if (np.abs(target) == 1.0).all():
            return rng.choice([-1.0, 1.0], target.shape)
        return rng.permutation(target)


class GaussianNoise(Attack):
    """Adds noise N(mean, sigma^2) to every entry of its update. The paper gives neither number."""

    name = "attack.gaussian"
    reference = "Ghosh et al., Appendix (further experiments)"

    sigma: PositiveFloat = Field(
        description="standard deviation of the noise; required, since the papers do not give one"
    )
    mean: float = Field(default=0.0, description="mean of the noise")

    def falsify(self, vector: Array, situation: Situation) -> Array:
        return vector + situation.rng.normal(self.mean, self.sigma, vector.shape)


class Collusion(Attack):
    """All hostile workers send one vector against the honest mean, as long as `filter.norm` lets pass.

    Its norm is just below that of the honest vector which the coordinator then leaves out in their
    place, so norm trimming keeps every hostile worker and drops honest workers.
    """

    name = "attack.collusion"
    colludes = True

    margin: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.01, description="how far below that norm, as a part of it"
    )

    def falsify(self, vector: Array, situation: Situation) -> Array:
        honest = _known(situation)
        ranked = np.sort(robust_means.norms(honest))
        # With this many honest vectors shorter than theirs, all of them are among the m - trim kept.
        shorter = max(0, len(honest) - situation.trim)
        longest = ranked[min(shorter, len(ranked) - 1)]
        against = -robust_means.mean(honest)
        length = float(np.linalg.norm(against))
        return against * ((1 - self.margin) * longest / length) if length > 0.0 else against


class ALittleIsEnough(Attack):
    """Sends mean - z * deviation of the honest vectors, in each coordinate: hidden in their spread.

    By default z is the largest for which a majority, with the hostile workers, is expected beyond it:
    the normal quantile of (m - f - s)/(m - f) with s = floor(m/2 + 1) - f honest workers to win
    over. For few hostile workers that is near 0, and a larger z does more harm.
    """

    name = "attack.alie"
    reference = "Baruch, Baruch, Goldberg 2019, Algorithm 3"
    colludes = True

    z: NonNegativeFloat | None = Field(
        default=None, description="standard deviations from the mean; none: by the number of hostile workers"
    )

    def falsify(self, vector: Array, situation: Situation) -> Array:
        honest = _known(situation)
        z = self.chosen(len(honest), len(situation.byzantine)) if self.z is None else self.z
        return np.asarray(robust_means.mean(honest) - z * honest.std(axis=0))

    def chosen(self, honest: int, byzantine: int) -> float:
        """z from the numbers of workers; 0 where the hostile are a majority already or too few."""
        share = (honest - max(0, (honest + byzantine) // 2 + 1 - byzantine)) / honest
        return float(max(0.0, ndtri(min(share, 1 - 1e-6))))  # kept finite where all honest must be won


class InnerProduct(Attack):
    """Sends -epsilon times the honest mean, so that the average may point the wrong way."""

    name = "attack.inner-product"
    reference = "Xie, Koyejo, Gupta 2019, Fall of Empires"
    colludes = True

    epsilon: PositiveFloat = Field(
        default=0.5, description="length of the hostile update, as a multiple of the honest mean's"
    )

    def falsify(self, vector: Array, situation: Situation) -> Array:
        return -self.epsilon * robust_means.mean(_known(situation))


class Mimic(Attack):
    """All hostile workers send a copy of one honest worker's vector, which so counts more than once.

    Each vector is an honest one: no filter can tell, and what the others know is drowned. By
    default the one copied is, in each round, the farthest from the honest mean along the
    direction of greatest spread; the original fixes it after a warm-up.
    """

    name = "attack.mimic"
    reference = "Karimireddy, He, Jaggi 2022, Sec. 3.2"
    colludes = True

    place: NonNegativeInt | None = Field(
        default=None, description="which honest worker to copy, counted among them; none: the farthest out"
    )

    def falsify(self, vector: Array, situation: Situation) -> Array:
        honest = _known(situation)
        if self.place is not None:
            return np.array(honest[min(self.place, len(honest) - 1)])
        off = honest - robust_means.mean(honest)
        values, directions = np.linalg.eigh(off @ off.T)
        # Of the rows' products, the eigenvector holds their places along the greatest spread.
        along = np.abs(directions[:, np.argmax(values)])
        return np.array(honest[int(np.argmax(along))])
