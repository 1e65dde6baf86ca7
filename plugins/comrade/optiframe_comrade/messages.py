"""What travels between the centre and a worker: plain arrays and numbers, checked before use.

Nothing here is code or is turned into code: a home may carry these over any wire that
moves arrays. A reply is data of someone who may lie, so the centre opens it with
`open_reply` alone, which looks at round, type and size before it decodes, and at every
number after that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from optiframe.values import Array

if TYPE_CHECKING:
    from optiframe_comrade.parts.kinds import Compressor

NEWTON_STEP = "newton-step"
"""Asks for the local Hessian's inverse times the local gradient at the point."""
GRADIENT = "gradient"
"""Asks for the local gradient at the point."""
STEP_WITH_GRADIENT = "newton-step-with-gradient"
"""Asks for the local Hessian's inverse times the gradient sent along (array "gradient")."""
OBJECTIVE = "objective"
"""Asks for the local objective at point - t * direction (arrays "direction", "steps"), for each t."""

FaultKind: TypeAlias = Literal[
    "crashed",  # no worker, or an error in it
    "late",  # nothing by the deadline
    "old-round",  # a reply to another broadcast
    "wrong-type",  # not an array of float64, or not bytes where bytes are due
    "wrong-shape",
    "too-large",
    "malformed",  # bytes that the compressor cannot decode
    "not-finite",
]

_NUMBER = 8  # bytes of a float64, and of the round number


@dataclass(frozen=True)
class Broadcast:
    """What the centre sends to every worker it asks.

    Parameters
    ----------
    round
        Counts the broadcasts of a run from 1; a reply must repeat it.
    kind
        What is asked for; one of the constants of this module.
    point
        Where, of shape (d,).
    arrays
        What else the kind needs, by name.
    """

    round: int
    kind: str
    point: Array
    arrays: Mapping[str, Array] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and the round number, as they would lie on the wire for one worker."""
        return _NUMBER + self.point.nbytes + sum(array.nbytes for array in self.arrays.values())

    @property
    def size(self) -> int:
        """How many numbers a reply to this holds."""
        return len(self.arrays["steps"]) if self.kind == OBJECTIVE else len(self.point)

    @property
    def compressible(self) -> bool:
        """Whether the reply goes through the compressor: updates do, the few values of a line search not."""
        return self.kind != OBJECTIVE


@dataclass(frozen=True)
class Reply:
    """What a worker sends back.

    Parameters
    ----------
    worker
        Its number, filled in by the home (which knows the line it came on), not by the worker.
    round
        The broadcast it answers, as the worker says.
    payload
        An array of float64 of shape (d,) when nothing is compressed, else the compressor's bytes.
    """

    worker: int
    round: int
    payload: Any

    @property
    def nbytes(self) -> int:
        """Bytes of the payload and the round number on the wire; of no payload at all, the latter."""
        try:
            size = getattr(self.payload, "nbytes", None)
            return _NUMBER + (int(size) if size is not None else len(self.payload))
        except Exception:  # neither an array nor bytes, and perhaps an object made to annoy
            return _NUMBER


@dataclass(frozen=True)
class Fault:
    """Why a worker counts as absent in a round: one word for counting, one sentence for reading."""

    worker: int
    round: int
    kind: FaultKind
    text: str


def check_reply(reply: Reply, asked: Broadcast, compressor: Compressor) -> Fault | None:
    """What is wrong with a reply, looked at without decoding it; None when nothing is.

    Constant time and memory, whatever was sent.
    """

    def fault(kind: FaultKind, text: str) -> Fault:
        return Fault(reply.worker, asked.round, kind, text)

    number = reply.round
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number != asked.round:
        return fault("old-round", f"answers round {_shown(number)}, asked was round {asked.round}")
    payload, size = reply.payload, asked.size
    if asked.compressible and compressor.encodes:
        if not isinstance(payload, bytes):
            return fault("wrong-type", f"sent a {type(payload).__name__} where compressed bytes are due")
        most = compressor.most_bytes(size)
        if len(payload) > most:
            return fault("too-large", f"sent {len(payload)} bytes, at most {most} are due")
        return None
    if type(payload) is not np.ndarray:
        return fault("wrong-type", f"sent a {type(payload).__name__} where an array is due")
    if payload.dtype != np.float64:
        return fault("wrong-type", f"sent numbers of type {payload.dtype}, due is float64")
    if payload.nbytes > _NUMBER * size:
        return fault("too-large", f"sent {payload.nbytes} bytes, {_NUMBER * size} are due")
    if payload.shape != (size,):
        return fault("wrong-shape", f"sent an array of shape {payload.shape}, due is ({size},)")
    return None


def open_reply(reply: Reply, asked: Broadcast, compressor: Compressor) -> Array | Fault:
    """The vector in a reply, or what is wrong with it. Never raises for what a worker sent."""
    fault = check_reply(reply, asked, compressor)
    if fault is not None:
        return fault
    vector = reply.payload
    if asked.compressible and compressor.encodes:
        try:
            vector = compressor.decode(reply.payload, asked.size)
        except Exception as error:  # a third party's decoder, fed with what a liar sent
            return Fault(reply.worker, asked.round, "malformed", f"cannot be decoded: {error!s:.80}")
        if type(vector) is not np.ndarray or vector.shape != (asked.size,) or vector.dtype != np.float64:
            return Fault(reply.worker, asked.round, "malformed", "decodes to something that is no vector")
    overflow = not_finite(vector)
    if overflow is not None:
        return Fault(reply.worker, asked.round, "not-finite", overflow)
    return np.asarray(vector)


def not_finite(vector: Array) -> str | None:
    """What in a vector is not finite, in words; None when it and its norm are."""
    finite = np.isfinite(vector)
    if not finite.all():
        where = int(np.argmin(finite))
        return f"entry {where} is {vector[where]}"
    # A norm that overflows would hide in the sorting; such a message is as bad as an infinite one.
    with np.errstate(over="ignore"):
        return None if np.isfinite(vector @ vector) else "its norm overflows"


def _shown(number: object) -> str:
    """What a worker gives for a round, in a few letters."""
    try:
        return f"{number!r:.20}"
    except Exception:  # Python writes no whole number of over 4,300 digits, and an object what it likes
        return f"a strange {type(number).__name__}"
