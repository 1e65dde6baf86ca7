"""One worker: its shard, its random numbers, what its compressor left over, and its attack.

Every backend runs this class: in this process, inside a Dask actor, inside a Flower client.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.local.step import Method
from optiframe_comrade.messages import STEP_WITH_VALUE, Broadcast, Fault, Reply
from optiframe_comrade.parts.kinds import Attack, Compressor, Honest, NoReply, Nothing, Rule, Situation
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


class Worker:
    """The worker with a number, for as long as a run lasts.

    `owed` is what error feedback adds to the next update, by kind of broadcast: the worker sends Q(p + e)
    and keeps e = p + e - Q(p + e), O(d) numbers. It helps where Definition 2 holds; where it fails the
    memory may grow without end. Source: Karimireddy et al. 2019, Error feedback fixes SignSGD,
    Algorithm 2 (the step size left to the coordinator).
    """

    def __init__(self, number: int, shard: FiniteSum, config: WorkerConfig) -> None:
        self.number, self.config = number, config
        self._draw_from(number)
        self.hostile = number in config.byzantine
        self._attack = config.attack if self.hostile else _HONEST
        self.shard = self._attack.poison(shard, self._lying)
        self.owed: dict[str, Array] = {}
        self._past: deque[Reply] = deque(maxlen=_REMEMBERED)

    @cached_property
    def _curved(self) -> FiniteSum | None:
        """The terms its Hessian is of: a uniform sample, drawn once; None for all of them."""
        wanted = self.config.hessian_terms
        if wanted is None or wanted >= len(self.shard):
            return None
        # A stream of its own, and the same in every round where a backend makes a new worker for each.
        third = np.random.SeedSequence(self.config.seed, spawn_key=(self.number,)).spawn(3)[2]
        chosen = np.random.default_rng(third).choice(len(self.shard), wanted, replace=False)
        return self.shard.take(np.sort(chosen))

    def resume(self, round: int, owed: Mapping[str, Array]) -> None:
        """Go on in a round, for backends that make a new worker for each: fresh draws, what it `owed`."""
        self._draw_from(self.number, round)
        self.owed.update(owed)

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

    def situation(self, asked: Broadcast, honest: Array | None = None, rule: Rule | None = None) -> Situation:
        """What it knows if it is hostile; of `honest` rows the vectors alone, without objectives."""
        if honest is not None and asked.kind == STEP_WITH_VALUE:
            honest = honest[:, :-1]
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
            rule=rule,
            shard=self.shard,
        )

    def conspire(self, situation: Situation) -> Array | None:
        """What all hostile workers will send, if their attack has them decide together."""
        with np.errstate(all="ignore"):
            return self._attack.conspire(situation)

    def send(self, asked: Broadcast, vector: Array, situation: Situation | None = None) -> Reply | Fault:
        """The reply that leaves it; the fault that it is when, under attack, none does.

        A vector that is not finite is a fault too where a compressor would have to write it.
        """
        situation = self.situation(asked) if situation is None else situation
        try:
            with np.errstate(all="ignore"):
                vector = self._falsified(asked, vector, situation)
            payload: Array | bytes = np.array(vector, dtype=np.float64)
            if asked.compressible and self.config.compressor.encodes:
                overflow = not_finite(vector)
                if overflow is not None:
                    return Fault(self.number, asked.round, "not-finite", overflow)
                ends = len(vector) - asked.exact
                values = np.ascontiguousarray(vector[ends:], dtype="<f8").tobytes()
                payload = self._encoded(asked.kind, vector[:ends]) + values
            reply = Reply(self.number, asked.round, payload)
            if self.hostile:
                self._past.append(reply)
            return self._attack.tamper(reply, situation)
        except NoReply as silence:
            return Fault.silent(self.number, asked.round, silence.kind)

    def reply(self, asked: Broadcast) -> Reply | Fault:
        """Compute and send, for backends where workers do not know each other's vectors."""
        return self.send(asked, self.compute(asked))

    def _falsified(self, asked: Broadcast, vector: Array, situation: Situation) -> Array:
        if asked.kind != STEP_WITH_VALUE:
            return self._attack.falsify(vector, situation)
        claimed = self._attack.claim(float(vector[-1]), situation)
        return np.append(self._attack.falsify(vector[:-1], situation), claimed)

    def _encoded(self, kind: str, vector: Array) -> bytes:
        compressor = self.config.compressor
        if not self.config.error_feedback:
            return compressor.encode(vector, self._coding)
        due = vector + self.owed[kind] if kind in self.owed else vector
        payload = compressor.encode(due, self._coding)
        self.owed[kind] = due - compressor.decode(payload, len(due))
        return payload
