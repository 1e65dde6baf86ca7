"""The three exchangeable pieces: filters of the coordinator, attacks and compressors of workers.

A piece is a class named ``filter.x``, ``attack.x`` or ``compressor.x``; anybody's package may
add more (hook `optiframe_plugin`), code may add one with `optiframe.register`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe.registry.by_name import Part
from optiframe_comrade.messages import Reply
from optiframe_comrade.parts.metric import AnyMetric

Indices = NDArray[np.intp]


class Rule(Protocol):
    """How vectors become one in a run: a filter, or a filter within a metric."""

    @property
    def name(self) -> str: ...

    def aggregate(self, vectors: Array, trim: int = 0) -> Array: ...

    def kept(self, vectors: Array, trim: int = 0) -> Indices | None: ...


class Filter(Part):
    """Turns the workers' vectors into one, however some of them were made up.

    The coordinator calls `kept` and `aggregate` once a round with the vectors that arrived whole:
    an array of shape (m, d), every entry finite, and how many of them may be lies.
    """

    family = "filter"
    contract = "optiframe_comrade.parts.contracts.filters:FILTER_CHECKS"
    trims: ClassVar[bool] = False  # True: with a trim of 0 it is the plain mean
    # The share of hostile workers from which a run warns that the answer may be carried away; None: not
    # known. Here it is measured: the least at which an attack of this package has left the last point of
    # newton.comrade on a9a with nine tenths of the start's gap (docs/methods/comrade-robustness.md).
    fails_from: ClassVar[float | None] = None
    # True: it measures distances by the Hessian. The coordinator then asks for a sketch of it once a run,
    # and calls `within`; Newton steps are checked by the workers' objectives before the next is taken.
    in_metric: ClassVar[bool] = False
    # False: the answer hangs on the unit of the vectors, as where they are clipped at a fixed length.
    scales: ClassVar[bool] = True

    @abstractmethod
    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        """One vector of shape (d,) from m of them.

        Parameters
        ----------
        vectors
            Array of shape (m, d), or a list of m vectors.
        trim
            How many to leave out, or to withstand; less than m.
        """

    def kept(self, vectors: Array, trim: int = 0) -> Indices | None:
        """Rows that go into the aggregate; None for a filter that does not choose among them."""
        return None

    def within(self, metric: AnyMetric, gradients: bool) -> Rule:
        """This filter with distances between Newton updates, or between gradients, by a metric."""
        return self


def rows_of(vectors: Any, trim: int) -> Array:
    """The vectors as an (m, d) array.

    Raises
    ------
    InvalidInput
        When they are not vectors of one length, there is none, or `trim` leaves none.
    """
    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except ValueError as error:
        raise InvalidInput(f"vectors must be numbers and of one length ({error})") from None
    if rows.ndim != 2 or not len(rows):
        raise InvalidInput(f"vectors must be an (m, d) array or a list of vectors, got shape {rows.shape}")
    if not 0 <= trim < len(rows):
        raise InvalidInput(f"trim is {trim}; of {len(rows)} vectors it can be 0 to {len(rows) - 1}")
    return rows


class Selecting(Filter):
    """A filter that chooses vectors and averages them; a subclass gives `kept`."""

    @abstractmethod
    def kept(self, vectors: Array, trim: int = 0) -> Indices:
        """Rows that go into the average, rising."""

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        rows = rows_of(vectors, trim)
        return np.asarray(rows[self.kept(rows, trim)].mean(axis=0))


@dataclass(frozen=True)
class Situation:
    """What a hostile worker knows when it makes up its reply.

    Attributes
    ----------
    worker, round, kind
        Its number, the broadcast's round and kind.
    byzantine
        Numbers of all hostile workers.
    trim
        How many the coordinator leaves out.
    honest
        What the honest workers send in this round, as rows, before compression; None where a
        backend cannot know it (an attack with `colludes` is then refused beforehand).
    past
        Replies that left this worker in the last few rounds, the oldest first.
    point
        The broadcast point.
    rng
        Of this worker alone, so that a run is repeated by its seed.
    rule
        How the coordinator makes one vector of them; None where a backend cannot know it.
    shard
        The worker's own terms; None where there are none.
    plan
        What all hostile workers have agreed to send, one row each in the order of `byzantine`; None
        where they have not: see `Attack.conspire`.
    """

    worker: int
    round: int
    kind: str
    byzantine: tuple[int, ...]
    trim: int
    honest: Array | None
    point: Array
    rng: np.random.Generator
    past: Sequence[Reply] = field(default_factory=tuple)
    rule: Rule | None = None
    shard: FiniteSum | None = None
    plan: Array | None = None


class NoReply(Exception):
    """Raised by an attack whose worker sends nothing: it has crashed, or is too late.

    `kind` is "crashed" or "late".
    """

    def __init__(self, kind: str = "crashed") -> None:
        super().__init__(kind)
        self.kind = kind


class Attack(Part):
    """What hostile workers do, at any of three places; each does nothing unless overridden.

    `poison` once, to the worker's data; `falsify` each round, to its vector before it is
    compressed; `tamper` each round, to the finished reply, which is where faults live.
    `colludes` says that `falsify` needs `Situation.honest`. Hostile workers that act as one decide
    once a round, in `conspire`.
    """

    family = "attack"
    contract = "optiframe_comrade.parts.contracts.attacks:ATTACK_CHECKS"
    colludes: ClassVar[bool] = False

    def poison(self, shard: FiniteSum, rng: np.random.Generator) -> FiniteSum:
        """The data the worker computes with, from the data it was given."""
        return shard

    def falsify(self, vector: Array, situation: Situation) -> Array:
        """The vector it sends, from the one it computed with its (poisoned) data."""
        return vector

    def claim(self, value: float, situation: Situation) -> float:
        """The objective it reports beside its vector, from the one it computed."""
        return value

    def conspire(self, situation: Situation) -> Array | None:
        """What all hostile workers will send, as `Situation.plan`; None where each decides for itself.

        Called once a round where a backend knows all workers, for the first of the hostile ones.
        """
        return None

    def tamper(self, reply: Reply, situation: Situation) -> Reply:
        """The reply that leaves it; raises `NoReply` when none does."""
        return reply


class Compressor(Part):
    """Turns a vector into fewer bytes, and back.

    `decode` must raise an exception (`ValueError`) for bytes that `encode` would not write:
    what it is given comes from someone who may lie. It never sees more than `most_bytes`.
    """

    family = "compressor"
    contract = "optiframe_comrade.parts.contracts.compressors:COMPRESSOR_CHECKS"
    encodes: ClassVar[bool] = True  # False: the vector travels as an array, untouched

    @abstractmethod
    def encode(self, vector: Array, rng: np.random.Generator) -> bytes:
        """The bytes that travel, all of them: their number is the real wire size."""

    @abstractmethod
    def decode(self, payload: bytes, size: int) -> Array:
        """The vector of shape (size,), float64, that the bytes stand for."""

    @abstractmethod
    def most_bytes(self, size: int) -> int:
        """The most bytes `encode` writes for a vector of `size` numbers."""

    def rho(self, size: int) -> float | None:
        """The compression factor guaranteed by theory (Definition 2), None when none is known.

        Definition 2: E |Q(x) - x|^2 <= (1 - rho) |x|^2 for every x of that size. Where it is below 0 a
        run warns.
        """
        return None

    def unwise(self, size: int) -> str | None:
        """What to warn of before vectors of `size` numbers are sent, None when nothing."""
        return None


class Nothing(Compressor):
    """No compression: eight bytes a number."""

    name = "compressor.none"
    encodes = False

    def encode(self, vector: Array, rng: np.random.Generator) -> bytes:
        return np.ascontiguousarray(vector, dtype="<f8").tobytes()

    def decode(self, payload: bytes, size: int) -> Array:
        if len(payload) != 8 * size:
            raise ValueError(f"{len(payload)} bytes are not {size} numbers")
        return np.frombuffer(payload, dtype="<f8").astype(np.float64)

    def most_bytes(self, size: int) -> int:
        return 8 * size

    def rho(self, size: int) -> float:
        return 1.0


class Honest(Attack):
    """No attack: hostile workers in name only."""

    name = "attack.none"
