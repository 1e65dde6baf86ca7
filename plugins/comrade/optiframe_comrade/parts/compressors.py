"""Compressors: an update as few bytes, and back.

A payload has no header: both ends know the number of entries, so its size is known before the
first byte is read, and anything else is refused. `none` and the scales are float64, little-endian.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_comrade.parts import packing
from optiframe_comrade.parts.kinds import Compressor

_SCALE = 8  # bytes of a scale


def _checked(vector: Array) -> Array:
    if not np.isfinite(vector).all():
        raise InvalidInput(
            "the update has an entry that is not finite; only finite numbers can be compressed"
        )
    return vector


class _Quantizer(Compressor):
    """|x_i|/scale times `levels`, rounded up or down at random so that the mean is right.

    On the wire: the scale, then level and sign of each entry as one number of
    1 + bits(levels) bits. Levels are packed at a fixed width; the Elias code of the QSGD paper
    would save more where most levels are 0.
    """

    levels: Annotated[PositiveInt, Field(le=2**30)] = Field(
        default=127, description="steps between 0 and the scale; 127 makes an entry one byte"
    )

    @abstractmethod
    def scale(self, vector: Array) -> float:
        """What stands for the highest level; at least the largest entry."""

    def most_bytes(self, size: int) -> int:
        return _SCALE + packing.packed_size(size, packing.width(2 * self.levels))

    def encode(self, vector: Array, rng: np.random.Generator) -> bytes:
        scale = self.scale(_checked(vector))
        if not np.isfinite(scale):
            raise InvalidInput("an update so large that its norm overflows cannot be compressed")
        part = np.abs(vector) / scale if scale > 0.0 else np.zeros(len(vector))
        exact = np.minimum(part, 1.0) * self.levels
        low = np.floor(exact)
        level = low + (rng.random(len(vector)) < exact - low)
        signed = np.where(vector < 0.0, -level, level).astype(np.int64)
        return packing.pack_scale(scale) + packing.pack(signed + self.levels, packing.width(2 * self.levels))

    def decode(self, payload: bytes, size: int) -> Array:
        packing.expect(payload, self.most_bytes(size), f"{size} entries at {self.levels} levels")
        scale = packing.unpack_scale(payload)
        level = packing.unpack(payload[_SCALE:], size, packing.width(2 * self.levels)) - self.levels
        if size and level.max() > self.levels:
            raise packing.MalformedPayload(f"level {level.max()} is above the highest, {self.levels}")
        return scale * (level / self.levels)


class QSGD(_Quantizer):
    """Stochastic rounding to `levels` fractions of the largest entry, or of the Euclidean norm; unbiased.

    ``8 + d * bits(2 levels)/8`` bytes: at 127 levels 8 + d.

    The QSGD paper's analysis, and what COMRADE's paper takes from it, divides by the Euclidean norm, its
    experiments by the largest entry. The norm makes most levels 0, which a code for zeros would turn into
    fewer bytes; at a fixed width it only makes coarser steps. Hence the default, "max".

    With the largest entry Definition 2 holds, if at all, with
    rho = 1 - (sqrt(1 + (d - 1)/levels^2) - 1)/2, attained by one large entry among equal small ones; it
    fails where d - 1 > 8 levels^2. With the norm, with rho = 2 - sqrt(d)/levels where
    sqrt(d) >= 2 levels, and with rho = 1 - d/(4 levels^2) elsewhere; it fails where sqrt(d) > 2 levels.
    That is never more. Both are the worst case itself: the variance is sum u(1 - u) (scale/levels)^2 over
    the fractional parts u of levels |x_i|/scale, and as a function of u^2 its concave envelope is u - u^2
    up to u = 1/2 and 1/4 above. The bound in the QSGD paper, min(d/levels^2, sqrt(d)/levels), is up to
    four times larger.
    """

    name = "compressor.qsgd"
    reference = "Alistarh et al. 2017, QSGD, Sec. 3.1; Ghosh et al., COMRADE, Sec. 5"

    norm: Literal["max", "l2"] = Field(
        default="max", description="what the levels divide: the largest entry, or the papers' Euclidean norm"
    )

    def scale(self, vector: Array) -> float:
        top = float(np.abs(vector).max(initial=0.0))
        if top == 0.0 or self.norm == "max":
            return top
        # Divided first, since squares would overflow, or vanish, long before the norm does.
        with np.errstate(over="ignore"):
            return float(np.multiply(top, np.linalg.norm(vector / top)))

    def rho(self, size: int) -> float:
        if self.norm == "max":
            return 1 - (float(np.sqrt(1 + (size - 1) / self.levels**2)) - 1) / 2
        root = float(np.sqrt(size))
        if root >= 2 * self.levels:
            return 2 - root / self.levels
        return 1 - size / (4 * self.levels**2)


class L1QSGD(_Quantizer):
    """Stochastic rounding to `levels` fractions of the sum of absolute entries; unbiased.

    QSGD with the other norm: most small entries become 0, so Definition 2 needs more levels. It
    holds, if at all, with rho = 2 - d/levels where d >= 2 levels, and with
    rho = 1 - d^2/(4 levels^2) elsewhere (by the envelope argument of `QSGD`). The paper takes the
    name from Karimireddy et al. 2019, whose own operator is the scaled sign, here `sign`.
    """

    name = "compressor.l1-qsgd"
    reference = "Alistarh et al. 2017, QSGD, with the l1 norm; Ghosh et al., COMRADE, Sec. 5"

    def scale(self, vector: Array) -> float:
        with np.errstate(over="ignore"):
            return float(np.abs(vector).sum())

    def rho(self, size: int) -> float:
        if size >= 2 * self.levels:
            return 2 - size / self.levels
        return 1 - size**2 / (4 * self.levels**2)


class _Sparsifier(Compressor):
    """`k` entries as they are, the others as 0.

    On the wire: where they are (indices of the least width, or a bit for every entry, whichever
    is shorter), then their values: at most ``k * bits(d - 1)/8 + 8 k`` bytes.
    """

    k: PositiveInt = Field(default=10, description="entries sent; all, where there are no more")

    @abstractmethod
    def choose(self, vector: Array, rng: np.random.Generator) -> np.ndarray:
        """Places of the entries to send, rising."""

    def kept(self, size: int) -> int:
        """How many of `size` entries are sent."""
        return min(self.k, size)

    def most_bytes(self, size: int) -> int:
        return packing.places_size(self.kept(size), size) + 8 * self.kept(size)

    def rho(self, size: int) -> float:
        return self.kept(size) / size

    def unwise(self, size: int) -> str | None:
        if self.k <= size:
            return None
        return (
            f"{self.name} sends {self.k} entries, and an update has {size}: all are sent; give a smaller `k`"
        )

    def encode(self, vector: Array, rng: np.random.Generator) -> bytes:
        places = self.choose(_checked(vector), rng)
        return packing.pack_places(places, len(vector)) + packing.pack_numbers(vector[places])

    def decode(self, payload: bytes, size: int) -> Array:
        kept = self.kept(size)
        packing.expect(payload, self.most_bytes(size), f"{kept} of {size} entries")
        head = packing.places_size(kept, size)
        vector = np.zeros(size)
        vector[packing.unpack_places(payload[:head], kept, size)] = packing.unpack_numbers(payload[head:])
        return vector


class TopK(_Sparsifier):
    """The k entries of largest absolute value, of equal ones the first; Definition 2 with rho = k/d."""

    name = "compressor.top-k"
    reference = "Stich, Cordonnier, Jaggi 2018, Definition 2.1; Ghosh et al., COMRADE, Sec. 5"

    def choose(self, vector: Array, rng: np.random.Generator) -> np.ndarray:
        return np.sort(np.argsort(-np.abs(vector), kind="stable")[: self.k])


class RandK(_Sparsifier):
    """k entries drawn at random, not rescaled; Definition 2 on the mean with rho = k/d.

    Multiplied by d/k it would be unbiased, with E|Q(x) - x|^2 = (d/k - 1)|x|^2: that breaks
    Definition 2 for k < d/2.
    """

    name = "compressor.rand-k"
    reference = "Stich, Cordonnier, Jaggi 2018, Definition 2.1; Ghosh et al., COMRADE, Sec. 5"

    def choose(self, vector: Array, rng: np.random.Generator) -> np.ndarray:
        return np.sort(rng.choice(len(vector), self.kept(len(vector)), replace=False))


class ScaledSign(Compressor):
    """The signs times the mean absolute entry: 8 + d/8 bytes.

    Definition 2 holds with rho = |x|_1^2/(d |x|^2), which is at least 1/d. A zero counts as
    positive.
    """

    name = "compressor.sign"
    reference = "Karimireddy et al. 2019, Error feedback fixes SignSGD, Eq. for C(v)"

    def most_bytes(self, size: int) -> int:
        return _SCALE + packing.bytes_of_bits(size)

    def rho(self, size: int) -> float:
        return 1 / size

    def encode(self, vector: Array, rng: np.random.Generator) -> bytes:
        # Divided first: the sum may overflow where the mean does not.
        scale = float(np.sum(np.abs(_checked(vector)) / max(len(vector), 1)))
        return packing.pack_scale(scale) + packing.pack((vector < 0.0).astype(np.int64), 1)

    def decode(self, payload: bytes, size: int) -> Array:
        packing.expect(payload, self.most_bytes(size), f"{size} signs")
        negative = packing.unpack(payload[_SCALE:], size, 1) == 1
        scale = packing.unpack_scale(payload)
        return np.where(negative, -scale, scale)
