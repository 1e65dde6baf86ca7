"""One worker: its shard, its random numbers, what its compressor left over, and its attack.

Every backend runs this class: in this process, inside a Dask actor, inside a Flower client.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optiframe.errors import OptiframeError
from optiframe.problems.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.local.step import Method
from optiframe_comrade.messages import Broadcast, Reply
from optiframe_comrade.parts.error_feedback import ErrorFeedback
from optiframe_comrade.parts.kinds import Attack, Compressor, Honest, Nothing, Situation
from optiframe_comrade.protocol.answer import answer
from optiframe_comrade.protocol.reply_checks import not_finite

_REMEMBERED = 4  # rounds whose replies an attack may send again

_HONEST, _NOTHING = Honest(), Nothing()


@dataclass(frozen=True)
class WorkerConfig:
    """How the workers of a run behave; plain data, sent to each of them once.

    Attributes
    ----------
    attack, byzantine
        What the hostile workers do, and their numbers.
    trim
        How many the coordinator leaves out each round; known to hostile workers.
    compressor, error_feedback
        What updates go through, and whether what it loses is added to the next update.
    method, hessian_terms
        How a local step is computed, and of how many terms its Hessian is; None: of all.
    seed
        Entropy of the run; worker i draws from the i-th stream of it.
    """

    attack: Attack = _HONEST
    byzantine: tuple[int, ...] = ()
    trim: int = 0
    compressor: Compressor = _NOTHING
    error_feedback: bool = False
    method: Method = "auto"
    seed: int = 0
    hessian_terms: int | None = None

    @property
    def colludes(self) -> bool:
        """Whether hostile workers must know what the honest ones send."""
        return self.attack.colludes and bool(self.byzantine)


class NotFinite(OptiframeError):
    """A worker's vector is not finite, and its compressor has no bytes for that."""


class Worker:
    """The worker with a number, for as long as a run lasts."""

    def __init__(self, number: int, shard: FiniteSum, config: WorkerConfig) -> None:
        self.number, self.config = number, config
        self._draw_from(number)
        self.hostile = number in config.byzantine
        self.shard = config.attack.poison(shard, self._lying) if self.hostile else shard
        self._coders: dict[str, ErrorFeedback] = {}
        self._past: deque[Reply] = deque(maxlen=_REMEMBERED)

    @cached_property
    def _curved(self) -> FiniteSum | None:
        """The terms its Hessian is of: a uniform sample, drawn once; None for all of them."""
        wanted = self.config.hessian_terms
        if wanted is None or wanted >= len(self.shard):
            return None
        # A stream of its own, and the same in every round where a backend makes a worker anew for each.
        third = np.random.SeedSequence(self.config.seed, spawn_key=(self.number,)).spawn(3)[2]
        chosen = np.random.default_rng(third).choice(len(self.shard), wanted, replace=False)
        return self.shard.take(np.sort(chosen))

    def resume(self, round: int, owed: Mapping[str, Array]) -> None:
        """Go on in a round, for backends that make a worker anew for each: fresh draws, what it `owed`."""
        self._draw_from(self.number, round)
        for kind, memory in owed.items():
            self._coders[kind] = ErrorFeedback(self.config.compressor)
            self._coders[kind].memory = memory

    def owed(self) -> dict[str, Array]:
        """What error feedback adds to the next update, by kind of broadcast."""
        return {kind: coder.memory for kind, coder in self._coders.items() if coder.memory is not None}

    def _draw_from(self, *stream: int) -> None:
        # Attack and compressor draw from streams of their own, so that one does not shift the other.
        streams = np.random.SeedSequence(self.config.seed, spawn_key=stream).spawn(2)
        self._lying, self._coding = (np.random.default_rng(each) for each in streams)

    def compute(self, asked: Broadcast) -> Array:
        """The vector it computes with its data."""
        # Far from the optimum a loss may overflow; what is not finite is found by the coordinator.
        with np.errstate(all="ignore"):
            try:
                return answer(self.shard, asked, self.config.method, self._curved)
            except ValueError as error:
                # SciPy's words for a Hessian with nan; any other error is one of the loss itself.
                if not (isinstance(error, np.linalg.LinAlgError) or "infs or NaNs" in str(error)):
                    raise
                return np.full(asked.size, np.nan)

    def send(self, asked: Broadcast, vector: Array, honest: Array | None = None) -> Reply:
        """The reply that leaves it.

        Raises
        ------
        NoReply
            When, under attack, none does.
        NotFinite
            When the vector is not finite and has to go through a compressor.
        """
        situation = self._situation(asked, honest) if self.hostile else None
        if situation is not None:
            with np.errstate(all="ignore"):
                vector = self.config.attack.falsify(vector, situation)
        reply = Reply(self.number, asked.round, self._encoded(asked, vector))
        if situation is not None:
            self._past.append(reply)
            reply = self.config.attack.tamper(reply, situation)
        return reply

    def reply(self, asked: Broadcast) -> Reply:
        """Compute and send, for backends where workers do not know each other's vectors."""
        return self.send(asked, self.compute(asked))

    def _encoded(self, asked: Broadcast, vector: Array) -> Array | bytes:
        compressor = self.config.compressor
        if not (asked.compressible and compressor.encodes):
            return np.array(vector, dtype=np.float64)
        overflow = not_finite(vector)
        if overflow is not None:
            raise NotFinite(overflow)
        if not self.config.error_feedback:
            return compressor.encode(vector, self._coding)
        return self._coders.setdefault(asked.kind, ErrorFeedback(compressor)).encode(vector, self._coding)

    def _situation(self, asked: Broadcast, honest: Array | None) -> Situation:
        return Situation(
            worker=self.number,
            round=asked.round,
            kind=asked.kind,
            byzantine=self.config.byzantine,
            trim=self.config.trim,
            honest=honest,
            point=asked.point,
            rng=self._lying,
            past=tuple(self._past),
        )
