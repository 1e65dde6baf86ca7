"""Faults: replies that do not come, or that no honest worker would send.

They are attacks by name, so that a run can be tried with them; the coordinator counts each as an
absent worker, within the number it may leave out. In one process nothing really hangs, dies
or fills the memory: a worker that hangs is one from which nothing has come by the deadline,
and the huge message only claims its size.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field, PositiveInt

from optiframe_comrade.messages import Reply
from optiframe_comrade.parts.kinds import Attack, NoReply, Situation


class _Fault(Attack):
    """Honest until the round `start`, at fault from then on."""

    start: PositiveInt = Field(
        default=1, description="first round of the fault; before it the worker is honest"
    )

    def tamper(self, reply: Reply, situation: Situation) -> Reply:
        return reply if situation.round < self.start else self.spoil(reply, situation)

    @abstractmethod
    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        """The reply as it is sent; raises `NoReply` when none is."""


class Crash(_Fault):
    """Dies and never replies again."""

    name = "attack.crash"

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        raise NoReply("crashed")


class Hang(_Fault):
    """Keeps its connection and never answers; in one process: nothing by the deadline."""

    name = "attack.hang"

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        raise NoReply("late")


class LateReply(_Fault):
    """Answers after the deadline: nothing in its first bad round, then the answer to the round before.

    Without an earlier answer at hand it repeats the number of the round before.
    """

    name = "attack.late"

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        if situation.round == self.start:
            raise NoReply("late")
        if situation.past:
            return situation.past[-1]
        return replace(reply, round=situation.round - 1)


class Replay(_Fault):
    """Sends the oldest answer it still has, with the number of the round it belonged to."""

    name = "attack.replay"

    start: PositiveInt = Field(
        default=2, description="first round of the fault; there is nothing to replay in 1"
    )

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        return situation.past[0] if situation.past else replace(reply, round=situation.round - 1)


class _Entries(_Fault):
    """Sends one number in every place."""

    @abstractmethod
    def number(self) -> float:
        """The number."""

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        if isinstance(reply.payload, bytes):
            # Where a compressor keeps its numbers is its own affair, so they are put everywhere.
            word, size = np.array(self.number(), dtype="<f8").tobytes(), len(reply.payload)
            return replace(reply, payload=(word * (size // len(word) + 1))[:size])
        return replace(reply, payload=np.full(np.shape(reply.payload), self.number()))


class NotANumber(_Entries):
    """Sends nan in every place."""

    name = "attack.nan"

    def number(self) -> float:
        return float("nan")


class Infinity(_Entries):
    """Sends infinity in every place."""

    name = "attack.infinity"

    def number(self) -> float:
        return float("inf")


class WrongShape(_Fault):
    """Sends one number less than was asked for, or one byte."""

    name = "attack.wrong-shape"

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        return replace(reply, payload=reply.payload[:-1])


class WrongType(_Fault):
    """Sends whole numbers where float64 is due, and an array where bytes are."""

    name = "attack.wrong-dtype"

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        return replace(reply, payload=np.zeros(len(reply.payload), dtype=np.int64))


class _Claim(bytes):
    """Bytes that say they are many: a message of which only the header has come."""

    claimed: int

    def __new__(cls, claimed: int) -> _Claim:
        made = super().__new__(cls)
        made.claimed = claimed
        return made

    def __len__(self) -> int:
        return self.claimed

    def __reduce__(self) -> tuple[Any, ...]:
        return _Claim, (self.claimed,)


class HugeMessage(_Fault):
    """Sends far more than was asked for, a gigabyte by default, to fill the coordinator's memory.

    In one process the message only claims that size: the array repeats one number, the bytes
    are not there. The coordinator must refuse it by its size, without looking inside.
    """

    name = "attack.huge"

    size: PositiveInt = Field(default=2**30, description="bytes of the message; 1 GB by default")

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        if isinstance(reply.payload, bytes):
            return replace(reply, payload=_Claim(self.size))
        return replace(reply, payload=np.broadcast_to(np.float64(0.0), (max(1, self.size // 8),)))


class Malformed(_Fault):
    """Sends bytes of the right length that mean nothing, or text in place of an array."""

    name = "attack.malformed"

    def spoil(self, reply: Reply, situation: Situation) -> Reply:
        if isinstance(reply.payload, bytes):
            size = len(reply.payload)
            # Random bytes might mean something; all ones are no scale, no places and no number.
            noise = b"\xff" * 8 + situation.rng.bytes(max(0, size - 16)) + b"\xff" * 8
            return replace(reply, payload=noise[: max(0, size - 8)] + b"\xff" * min(8, size))
        return replace(reply, payload="not an array")
