"""The contracts of filters, attacks and compressors, and twins that break one rule."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from optiframe_comrade.parts.attacks import FlippedLabels, Negative
from optiframe_comrade.parts.compressors import L1QSGD, QSGD, RandK, TopK
from optiframe_comrade.parts.filters import (
    CoordinateMedian,
    DistanceToMedian,
    Mean,
    NearestNeighbourMixing,
    Norm,
)
from optiframe_comrade.parts.kinds import Attack, Compressor, Filter, NoReply, Nothing, Situation
from optiframe_comrade.parts.steepest import Steep

from optiframe.registry.by_name import Part
from optiframe.registry.contracts import imported
from optiframe.testing import check_part
from optiframe.testing.parts.checks import outcomes

from .test_parts_registry import everything

SHIPPED: list[Part] = [
    *everything(),
    NearestNeighbourMixing(then=DistanceToMedian()),
    QSGD(levels=1),
    QSGD(levels=4, norm="l2"),
    L1QSGD(levels=8),
    RandK(k=1),
    RandK(k=1000),
    TopK(k=1),
]


@pytest.mark.slow
@pytest.mark.parametrize("part", SHIPPED, ids=lambda each: each.name)
def test_a_shipped_part_keeps_its_contract(part: Part) -> None:
    check_part(part)
    check_part(part, shape=(1,), seed=1)
    check_part(part, shape=(40,), seed=2)


@pytest.mark.parametrize(("family", "checks"), [(Filter, 8), (Attack, 8), (Compressor, 6)])
def test_a_family_brings_checks_of_its_own(family: type[Part], checks: int) -> None:
    names = [check.__name__ for check in imported(family.contract)]
    assert len(set(names)) == len(names) == checks


def broken(part: Part) -> dict[str, str]:
    return {each.name: each.failure for each in outcomes(part) if each.failure}


# Filters


class First(Mean):
    """Takes the first vector."""

    name = "filter.first"
    fails_from = None

    def aggregate(self, vectors, trim=0):
        return np.array(vectors[0])


class Biased(CoordinateMedian):
    """Adds a tenth of a constant."""

    name = "filter.biased"
    fails_from = None
    scales = False

    def aggregate(self, vectors, trim=0):
        return super().aggregate(vectors, trim) + 0.1


class Sorting(CoordinateMedian):
    """Sorts the vectors that it was given."""

    name = "filter.sorting"

    def aggregate(self, vectors, trim=0):
        vectors.sort(axis=0)
        return vectors[len(vectors) // 2].copy()


class Wide(CoordinateMedian):
    """Gives one row, not a vector."""

    name = "filter.wide"

    def aggregate(self, vectors, trim=0):
        return super().aggregate(vectors, trim)[np.newaxis]


class Beyond(Norm):
    """Counts rows from 1."""

    name = "filter.beyond"

    def kept(self, vectors, trim=0):
        return super().kept(vectors, trim) + 1

    def aggregate(self, vectors, trim=0):
        return np.asarray(vectors[super().kept(vectors, trim)].mean(axis=0))


class Middling(DistanceToMedian):
    """Says that it averages, and takes the median of what it keeps."""

    name = "filter.middling"
    trims = False

    def aggregate(self, vectors, trim=0):
        return np.median(vectors[self.kept(vectors, trim)], axis=0)


class Untrimmed(CoordinateMedian):
    """A median that says it is the mean with a trim of 0."""

    name = "filter.untrimmed"
    trims = True


class Clipped(Mean):
    """Shortens each vector to 1."""

    name = "filter.clipped"
    fails_from = None

    def aggregate(self, vectors, trim=0):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        middle = np.median(vectors, axis=0)
        off = vectors - middle
        return middle + (off * np.minimum(1.0, 1.0 / np.maximum(lengths, 1e-300))).mean(axis=0)


class Trusting(Mean):
    """The mean, said to withstand a third of liars."""

    name = "filter.trusting"
    fails_from = 0.33


class Overflowing(DistanceToMedian):
    """Squares lengths that are too great for it, so that all vectors are equally far."""

    name = "filter.overflowing"

    def kept(self, vectors, trim=0):
        with np.errstate(over="ignore"):
            away = np.sum((1e30 * (vectors - np.median(vectors, axis=0))) ** 4, axis=1)
        return np.sort(np.argsort(np.where(np.isfinite(away), away, 0.0), kind="stable")[: len(away) - trim])


@pytest.mark.parametrize(
    ("twin", "check", "text"),
    [
        (First(), "the order of workers changes nothing", "in another order give another answer"),
        (Biased(), "equal vectors give that vector", "the answer is off by 0.1"),
        (Sorting(), "an aggregate is one vector", "aggregate changes its argument"),
        (Wide(), "an aggregate is one vector", "gives the shape (1, 5)"),
        (Beyond(), "kept rows are there", "from 0 to 20"),
        (Middling(), "a selection is averaged", "not the mean of the rows it says it keeps"),
        (Untrimmed(), "with nobody left out it is the mean", "set trims = False"),
        (Clipped(), "the unit changes nothing else", "set scales = False"),
        (Trusting(), "far lies do not carry it away", "6 of 21 vectors that lie 1e+06 radii off"),
        (Overflowing(), "far lies do not carry it away", "that lie 1e+140 radii off"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_filter_that_breaks_a_rule_fails_for_it(twin: Filter, check: str, text: str) -> None:
    assert text in broken(twin)[check]


@pytest.mark.parametrize(
    "twin", [First(), Biased(), Sorting(), Untrimmed(), Clipped(), Trusting()], ids=lambda each: each.name
)
def test_a_filter_that_breaks_one_rule_fails_for_nothing_else(twin: Filter) -> None:
    assert len(broken(twin)) == 1


# Attacks


class Short(Negative):
    """Sends as many numbers as the point has, whatever was asked for."""

    name = "attack.short"

    def falsify(self, vector, situation):
        return -np.ones(len(situation.point))


class Wild(Negative):
    """Sends infinity where a vector is due."""

    name = "attack.wild"

    def falsify(self, vector, situation):
        return np.full(len(vector), np.inf)


class Fickle(Negative):
    """Counts how often it was asked."""

    name = "attack.fickle"
    calls: ClassVar = itertools.count()

    def falsify(self, vector, situation):
        return vector + next(self.calls)


class Reversing(Negative):
    """Turns its vector in place."""

    name = "attack.reversing"

    def falsify(self, vector, situation):
        vector *= -1.0
        return vector


class Framing(Negative):
    """Turns the honest workers' vectors."""

    name = "attack.framing"
    colludes = True

    def falsify(self, vector, situation):
        situation.honest[:] *= -1.0
        return vector


class Spying(Negative):
    """Needs the honest workers' vectors, and does not say so."""

    name = "attack.spying"

    def falsify(self, vector, situation):
        return -situation.honest.mean(axis=0)


class Lonely(Steep):
    """Plans for one hostile worker, whatever their number."""

    name = "attack.lonely"

    def plan(self, scene):
        return super().plan(scene)[:1].repeat(9, axis=0)


class Boasting(Negative):
    """Reports that its objective falls without end."""

    name = "attack.boasting"

    def claim(self, value, situation):
        return -np.inf


class Careless(FlippedLabels):
    """Flips the labels of the data themselves."""

    name = "attack.careless"

    def poison(self, shard, rng):
        shard.target.flags.writeable = True
        np.negative(shard.target, out=shard.target)
        return shard


class Moody(FlippedLabels):
    """Draws from a stream of its own."""

    name = "attack.moody"
    draws: ClassVar = np.random.default_rng(0)

    def labels(self, target, rng):
        return self.draws.choice([-1.0, 1.0], target.shape)


class Bare(Attack):
    """Sends the payload without its reply."""

    name = "attack.bare"

    def tamper(self, reply, situation):
        return reply.payload


class Sulking(Attack):
    """Gives a reason for silence that nobody knows."""

    name = "attack.sulking"

    def tamper(self, reply, situation):
        raise NoReply("sulking")


class Scribbling(Attack):
    """Spoils the true reply."""

    name = "attack.scribbling"

    def tamper(self, reply, situation):
        if isinstance(reply.payload, np.ndarray):
            reply.payload[0] = 0.0
        return replace(reply, round=1)


@pytest.mark.parametrize(
    ("twin", "check", "text"),
    [
        (Short(), "a lie is a vector of the size asked for", "gives the shape (5,); it must be (7,)"),
        (Wild(), "a lie is a vector of the size asked for", "what is no vector is sent by `tamper`"),
        (Fickle(), "the same stream gives the same lies", "draw from `situation.rng` only"),
        (Reversing(), "it writes into nobodys vectors", "falsify changes its argument"),
        (Framing(), "it writes into nobodys vectors", "changes the honest workers' vectors"),
        (Spying(), "without colluding it knows only its own", "set colludes = True"),
        (Lonely(), "a plan has one row for each hostile worker", "gives the shape (9, 5); it must be (3, 5)"),
        (Boasting(), "a claimed objective is a number", "claim gives -inf"),
        (Careless(), "poisoned data are data", "poison changes the data it was given"),
        (Moody(), "poisoned data are data", "draw from `rng` only"),
        (Bare(), "a fault is a reply or silence", "it must be a Reply, or raise NoReply"),
        (Sulking(), "a fault is a reply or silence", "NoReply has the kind 'sulking'"),
        (Scribbling(), "a fault is a reply or silence", "tamper changes the reply it was given"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_an_attack_that_breaks_a_rule_fails_for_it_and_nothing_else(
    twin: Attack, check: str, text: str
) -> None:
    found = broken(twin)
    assert text in found.pop(check)
    assert not found


# Compressors


class Half(Nothing):
    """Gives back half of the numbers."""

    name = "compressor.half"

    def decode(self, payload, size):
        return super().decode(payload, size)[: max(1, size // 2)]


class Verbose(Nothing):
    """Writes a head that it does not count."""

    name = "compressor.verbose"

    def encode(self, vector, rng):
        return super().encode(vector, rng) + b"head"

    def decode(self, payload, size):
        return super().decode(payload[:-4], size)


class Dithering(Nothing):
    """Adds noise from a stream of its own."""

    name = "compressor.dithering"
    draws: ClassVar = np.random.default_rng(0)

    def encode(self, vector, rng):
        return super().encode(vector * (1 + 1e-6 * self.draws.standard_normal(len(vector))), rng)

    def rho(self, size):
        return 0.9


class Positive(Nothing):
    """Sends zeros as the smallest level."""

    name = "compressor.positive"

    def encode(self, vector, rng):
        return super().encode(np.where(vector == 0.0, 1e-9, vector), rng)

    def rho(self, size):
        return None


class Unbiased(RandK):
    """Multiplies by d/k, so that the mean is right, and keeps the rho without that."""

    name = "compressor.unbiased"

    def encode(self, vector, rng):
        return super().encode(vector * (len(vector) / self.kept(len(vector))), rng)


class Believing(Nothing):
    """Reads whatever comes."""

    name = "compressor.believing"

    def decode(self, payload, size):
        return np.frombuffer(payload[: len(payload) // 8 * 8], dtype="<f8").astype(np.float64)


class Falling(Nothing):
    """Reads past the end."""

    name = "compressor.falling"

    def decode(self, payload, size):
        if len(payload) < 8 * size:
            raise IndexError(len(payload))
        return super().decode(payload, size)


class Turning(Nothing):
    """Negates in place before it writes."""

    name = "compressor.turning"

    def encode(self, vector, rng):
        np.negative(vector, out=vector)
        return super().encode(-vector, rng)


@pytest.mark.parametrize(
    ("twin", "check", "text"),
    [
        (Half(), "bytes decode to a vector of that size", "come back with the shape"),
        (Turning(), "bytes decode to a vector of that size", "encode changes its argument"),
        (Verbose(), "no message is longer than it says", "and most_bytes says"),
        (Dithering(), "the same stream gives the same bytes", "draw from `rng` only"),
        (Positive(), "zero comes back as zero", "come back with an entry of 1.00e-9"),
        (Unbiased(k=2), "it loses no more than its rho allows", "it states rho = 0.400 for 5 numbers"),
        (
            Believing(),
            "other bytes are refused or decode to a vector",
            "gives (0,) for 0 made-up bytes",
        ),
        (Falling(), "other bytes are refused or decode to a vector", "decode raises IndexError"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_compressor_that_breaks_a_rule_fails_for_it(twin: Compressor, check: str, text: str) -> None:
    found = broken(twin)
    assert text in found.pop(check)
    if twin.name not in {"compressor.half", "compressor.turning"}:  # these spoil all that follows
        assert not found


def test_a_situation_without_honest_vectors_is_what_a_network_gives() -> None:
    """`check_without_colluding` imitates it: every shipped attack that does not collude runs there."""
    blind = Situation(0, 1, "newton-step", (0,), 1, None, np.zeros(3), np.random.default_rng(0))
    quiet: list[Any] = [each for each in everything() if isinstance(each, Attack) and not each.colludes]
    assert len(quiet) > 10
    for each in quiet:
        assert each.falsify(np.ones(3), blind).shape == (3,)
