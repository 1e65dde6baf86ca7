"""The round, written once: broadcast, one message a worker, check, filter, average.

Every solver of this plugin is a few lines on top of `Coordinator`, whatever backend its workers have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_comrade.messages import (
    GRADIENT,
    NEWTON_STEP,
    OBJECTIVE,
    STEP_WITH_VALUE,
    Broadcast,
    Fault,
    Reply,
)
from optiframe_comrade.parts.hessian_metric import WithinMetric
from optiframe_comrade.parts.kinds import Compressor, Filter, Indices, Rule
from optiframe_comrade.parts.metric import AnyMetric
from optiframe_comrade.protocol.ledger import Exchange, Ledger
from optiframe_comrade.protocol.reply_checks import open_reply
from optiframe_comrade.protocol.workers import Workers, WorkersLost


class TooManyFaults(WorkersLost):
    """More workers failed in a round than the trim budget covers.

    `faults` says who and how.
    """

    def __init__(self, message: str, faults: Sequence[Fault]) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    def __reduce__(self) -> tuple[Any, ...]:  # Python's own way would forget the faults, and then fail
        return type(self), (*self.args, self.faults)

    @property
    def overflows(self) -> int:
        """How many sent numbers that are not finite; when most did, the point itself is too far out."""
        return sum(fault.kind == "not-finite" for fault in self.faults)


@dataclass(frozen=True)
class Replies:
    """What arrived whole in a round: the senders' numbers and their vectors, one row each."""

    senders: tuple[int, ...]
    vectors: Array
    kind: str
    round: int


@dataclass(frozen=True)
class Combined:
    """A filtered average: the vector, who is in it (all, for a filter that does not choose), its signal.

    `signal` is the length of the average over its standard error, estimated from how the vectors in it
    differ; in the metric of the run, where there is one, from how far the middle one of all is off.
    """

    vector: Array
    kept: tuple[int, ...]
    signal: float


class Coordinator:
    """The coordinating machine: asks workers, keeps the books, trusts nobody.

    Parameters
    ----------
    workers
        Whom to ask.
    filter
        How vectors become one.
    trim
        How many workers a round leaves out: those with faults first, then by the filter.
    lies
        How many the filter reckons with, where that is another number than `trim`.
    compressor
        What updates went through.
    deadline
        Seconds a round may take; None: no limit.
    """

    def __init__(
        self,
        workers: Workers,
        *,
        filter: Filter,
        trim: int,
        compressor: Compressor,
        deadline: float | None = None,
        lies: int | None = None,
    ) -> None:
        self.workers, self.filter, self.trim = workers, filter, trim
        self.lies = trim if lies is None else lies
        self.metric: AnyMetric | None = None
        self.compressor, self.deadline = compressor, deadline
        # Not every backend moves shards; that of Dask adds to this list.
        self.ledger = Ledger(list(workers.names), moves=getattr(workers, "moves", ()))

    def ask(self, kind: str, point: Array, to: Sequence[int] | None = None, **arrays: Array) -> Replies:
        """Broadcast, wait, open the replies.

        Workers simulated in this process learn the rule, for attacks that are assumed to know it.

        Raises
        ------
        TooManyFaults
            When more replies than the trim budget are missing or unusable.
        """
        asked = tuple(range(len(self.workers))) if to is None else tuple(to)
        broadcast = Broadcast(self.ledger.rounds + 1, kind, point, arrays)
        if hasattr(self.workers, "rule"):
            self.workers.rule = self.rule(kind)
        received = self.workers.ask(broadcast, self.deadline, None if to is None else asked)
        senders, rows, faults, arrived = [], [], [], 0
        for worker, reply in zip(asked, received, strict=True):
            if isinstance(reply, Reply):
                arrived += reply.nbytes
                opened = open_reply(replace(reply, worker=worker), broadcast, self.compressor)
            elif isinstance(reply, Fault):
                opened = reply
            else:
                text = f"sent a {type(reply).__name__} that is no reply"
                opened = Fault(worker, broadcast.round, "wrong-type", text)
            if isinstance(opened, Fault):
                faults.append(opened)
            else:
                senders.append(worker)
                rows.append(opened)
        self.ledger.add(
            Exchange(
                broadcast.round,
                kind,
                asked,
                broadcast.nbytes * len(asked),
                arrived,
                faults=tuple(faults),
            )
        )
        if len(faults) > self.trim or not rows:
            raise TooManyFaults(self._complaint(broadcast.round, faults, len(asked)), faults)
        return Replies(tuple(senders), np.array(rows), kind, broadcast.round)

    def ask_step(self, point: Array) -> tuple[Replies, Array]:
        """The workers' Newton updates at a point, and their objectives there, shape (m,); one round."""
        replies = self.ask(STEP_WITH_VALUE, point)
        return replace(replies, vectors=replies.vectors[:, :-1]), replies.vectors[:, -1]

    def rule(self, kind: str) -> Rule:
        """The filter, within the metric of the run if there is one."""
        if self.metric is None:
            return self.filter
        return self.filter.within(self.metric, kind == GRADIENT)

    def combine(self, replies: Replies) -> Combined:
        """Filter and average; faults have used up their share of the trim budget.

        Raises
        ------
        InvalidInput
            When the filter returns something of another shape than a reply.
        """
        trim = max(0, self.lies - (len(self.workers) - len(replies.senders)))
        rule = self.rule(replies.kind)
        signal = None
        if isinstance(rule, WithinMetric):
            mixture = rule.mixture(replies.vectors, trim)
            kept: Indices | None = mixture.kept
            vector = mixture.weights @ replies.vectors
            # A mean over workers would be as large as liars want it to be, and they would look like noise.
            length = float(np.linalg.norm(rule.coordinates(vector[np.newaxis])))
            signal = _ratio(length, math.sqrt(float(np.median(mixture.apart)) / len(replies.vectors)))
            if replies.kind in (NEWTON_STEP, STEP_WITH_VALUE):
                self.ledger.measured(replies.round, replies.senders, mixture.apart)
        else:
            kept = rule.kept(replies.vectors, trim)
            vector = np.asarray(rule.aggregate(replies.vectors, trim))
        if vector.shape != replies.vectors.shape[1:]:
            raise InvalidInput(
                f"{self.filter.name} must return one vector of shape {replies.vectors.shape[1:]}, "
                f"got one of shape {vector.shape}"
            )
        rows = range(len(replies.senders)) if kept is None else [int(row) for row in kept]
        return self._entered(replies, rows, vector, signal)

    def average(self, replies: Replies, rows: Sequence[int] | None = None) -> Combined:
        """The plain mean of some of the replies, or of all of them: of workers chosen otherwise."""
        chosen = range(len(replies.senders)) if rows is None else rows
        return self._entered(replies, chosen, np.asarray(replies.vectors[list(chosen)].mean(axis=0)))

    def _entered(
        self, replies: Replies, rows: Sequence[int], vector: Array, signal: float | None = None
    ) -> Combined:
        chosen = set(rows)
        out = tuple(sender for row, sender in enumerate(replies.senders) if row not in chosen)
        self.ledger.trim(replies.round, out)
        if signal is None:
            spread = replies.vectors[list(rows)] - vector
            with np.errstate(over="ignore"):  # the squares of a lie need not be finite
                noise = float(np.sqrt((spread**2).sum() / max(1, len(rows) * (len(rows) - 1))))
            signal = _ratio(float(np.linalg.norm(vector)), noise)
        return Combined(vector, tuple(replies.senders[row] for row in rows), signal)

    def newton_step(self, kind: str, point: Array) -> Combined:
        """One round of Algorithm 1: what to subtract from the point."""
        return self.combine(self.ask(kind, point))

    def weigh(self, replies: Replies) -> Replies:
        """Vectors times worker's share of the terms, so that the plain mean is that of all terms.

        Shares are about 1: shards differ by one term when the number of workers does not divide n.
        """
        sizes = np.array([self.workers.sizes[sender] for sender in replies.senders], dtype=np.float64)
        return replace(replies, vectors=replies.vectors * (sizes / sizes.mean())[:, np.newaxis])

    def objectives(self, point: Array, direction: Array, steps: Array, to: Sequence[int]) -> Replies:
        """The objectives of some workers at point - t direction, for each step t; their mean is of all."""
        return self.weigh(self.ask(OBJECTIVE, point, to, direction=direction, steps=steps))

    def _complaint(self, number: int, faults: Sequence[Fault], asked: int) -> str:
        names = self.workers.names
        said = "; ".join(f"{names[fault.worker]}: {fault.text}" for fault in faults[:5])
        more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
        return (
            f"round {number}: {len(faults)} of {asked} workers failed and the trim budget covers "
            f"{self.trim}: {said}{more}; raise `trim`, or see to these workers"
        )


def _ratio(length: float, noise: float) -> float:
    return length / noise if noise > 0.0 else math.inf
