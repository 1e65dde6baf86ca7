"""Opens replies, which come from workers who may lie, without trusting a byte of them.

The coordinator opens a reply with `open_reply` alone, which looks at round, type and size before it
decodes, and at every number after that.
"""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_comrade.messages import NUMBER, Broadcast, Fault, FaultKind, Reply
from optiframe_comrade.parts.kinds import Compressor


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
        least = NUMBER * asked.exact
        most = compressor.most_bytes(size - asked.exact) + least
        if len(payload) > most:
            return fault("too-large", f"sent {len(payload)} bytes, at most {most} are due")
        if len(payload) < least:
            return fault("malformed", f"sent {len(payload)} bytes, at least {least} are due")
        return None
    if type(payload) is not np.ndarray:
        return fault("wrong-type", f"sent a {type(payload).__name__} where an array is due")
    if payload.dtype != np.float64:
        return fault("wrong-type", f"sent numbers of type {payload.dtype}, due is float64")
    if payload.nbytes > NUMBER * size:
        return fault("too-large", f"sent {payload.nbytes} bytes, {NUMBER * size} are due")
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
        size, ends = asked.size - asked.exact, len(reply.payload) - NUMBER * asked.exact
        try:
            vector = compressor.decode(reply.payload[:ends], size)
        except Exception as error:  # a third party's decoder, fed with what a hostile worker sent
            return Fault(reply.worker, asked.round, "malformed", f"cannot be decoded: {error!s:.80}")
        if type(vector) is not np.ndarray or vector.shape != (size,) or vector.dtype != np.float64:
            return Fault(reply.worker, asked.round, "malformed", "decodes to something that is no vector")
        vector = np.concatenate([vector, np.frombuffer(reply.payload[ends:], dtype="<f8")])
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
