"""Broadcasts and replies as plain values that Flower carries: numbers, short texts and bytes.

Each fills one Flower `ConfigRecord`. Arrays travel as the bytes of their numbers, and are
read here, not by Flower: its own `Array.numpy()` takes the word of the sender's header for how
much memory to set aside. Nothing in this module imports Flower or unpickles anything.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.records.record import Record
from optiframe.registry.by_name import ByName
from optiframe_comrade.local.step import Method
from optiframe_comrade.messages import (
    GRADIENT,
    HESSIAN_BLOCK,
    HESSIAN_DIAGONAL,
    NEWTON_STEP,
    OBJECTIVE,
    STEP_WITH_GRADIENT,
    STEP_WITH_VALUE,
    Broadcast,
    Fault,
    FaultKind,
    Reply,
)
from optiframe_comrade.parts.kinds import Compressor, Nothing
from optiframe_comrade.problem import LossName
from optiframe_comrade.protocol.worker import WorkerConfig

Values: TypeAlias = dict[str, Any]

RECORD = "comrade"
"""Name of the one record in a message, both ways."""
_NUMBERS = "<f8"
_BYTES = "bytes"  # what a compressor made
_NOT_FINITE = "not-finite"  # no vector: the compressor has no bytes for it, and the payload says why
_MOST_WORDS = 80  # bytes of such a payload that are read
_ARRAY = "array."  # begins the keys of a broadcast's arrays
_COMPANIONS = {
    NEWTON_STEP: (),
    GRADIENT: (),
    STEP_WITH_GRADIENT: ("gradient",),
    OBJECTIVE: ("direction", "steps"),
    STEP_WITH_VALUE: (),
    HESSIAN_DIAGONAL: (),
    HESSIAN_BLOCK: ("scale", "block"),
}
_MOST_COLUMNS = 10  # of a block of vectors; the filters here take three
_MOST_STEPS = 1000  # of a line search; the solvers here try eleven
_MOST_SIDES = 8  # entries of a shape that are looked at
_HEAD = 512  # bytes of a reply besides its payload: keys, types, lengths


class Work(Record):
    """How a node is to work: part of every broadcast, since the node may be new each time."""

    name = "work"

    loss: LossName = Field(description="loss of a row: the objective of its rows, by name")
    l2: NonNegativeFloat = Field(description="weight of half the squared norm")
    compressor: Annotated[Compressor, ByName()] = Field(
        default=Nothing(), description="what updates go through"
    )
    error_feedback: bool = Field(default=False, description="as in `WorkerConfig`")
    local: Method = Field(default="auto", description="`WorkerConfig.method`")
    seed: NonNegativeInt = Field(default=0, description="as in `WorkerConfig`")
    hessian_terms: PositiveInt | None = Field(default=None, description="as in `WorkerConfig`")
    run: str = Field(
        default="",
        description="identifier of the run: a worker forgets its error feedback when the run changes",
    )


class Malformed(InvalidInput):
    """Values that no honest sender would have sent."""


def write_broadcast(broadcast: Broadcast) -> Values:
    """A broadcast as values."""
    arrays = {_ARRAY + name: _bytes(array) for name, array in broadcast.arrays.items()}
    return {
        "round": broadcast.round,
        "kind": broadcast.kind,
        "point": _bytes(broadcast.point),
        **arrays,
    }


def read_broadcast(values: Mapping[str, Any]) -> Broadcast:
    """The broadcast in values; what the node does with what came from the coordinator.

    Raises
    ------
    Malformed
        When a value is missing or is not what it should be.
    """
    kind, number = values.get("kind"), values.get("round")
    if not isinstance(kind, str) or kind not in _COMPANIONS:
        raise Malformed(f"broadcast of kind {kind!r:.40}; known are {', '.join(_COMPANIONS)}")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise Malformed(f"broadcast with round {number!r:.40}; rounds count from 1")
    point = _numbers(values.get("point"), "point")
    arrays = {name: _numbers(values.get(_ARRAY + name), name) for name in _COMPANIONS[kind]}
    for name, array in arrays.items():
        if name == "steps" and len(array) > _MOST_STEPS:
            raise Malformed(f"broadcast with {len(array)} steps; at most {_MOST_STEPS} are tried at once")
        if name == "block":
            if not 0 < len(array) <= _MOST_COLUMNS * len(point) or len(array) % len(point):
                raise Malformed(f"broadcast whose block has {len(array)} entries, its point {len(point)}")
        elif name != "steps" and len(array) != len(point):
            raise Malformed(f"broadcast whose {name} has {len(array)} entries, its point {len(point)}")
    return Broadcast(number, kind, point, arrays)


def write_reply(reply: Reply) -> Values:
    """A reply as values, also one that a hostile worker made up."""
    payload = reply.payload
    if isinstance(payload, np.ndarray):
        return {
            "round": int(reply.round),
            "type": payload.dtype.str,
            "shape": [int(side) for side in payload.shape],
            "payload": payload.tobytes(),
        }
    if isinstance(payload, bytes):
        # A claimed length (attack "huge") is made good here: the bytes are really sent.
        padding = b"\0" * (len(payload) - len(payload[:]))
        return {"round": int(reply.round), "type": _BYTES, "shape": [], "payload": payload[:] + padding}
    return {"round": int(reply.round), "type": type(payload).__name__, "shape": [], "payload": str(payload)}


def write_not_finite(round: int, text: str) -> Values:
    """In place of a reply: its vector is not finite, and the compressor has no bytes for that."""
    return {"round": round, "type": _NOT_FINITE, "shape": [], "payload": text.encode()[:_MOST_WORDS]}


def read_reply(worker: int, asked: Broadcast, values: Mapping[str, Any]) -> Reply | Fault:
    """The reply in values that came from nobody knows whom, or the fault in it.

    Looks at types and lengths first. The array of the reply is a view of the bytes received:
    nothing is set aside on the sender's word, and what is claimed must agree with what is there.
    """

    def fault(kind: FaultKind, text: str) -> Fault:
        return Fault(worker, asked.round, kind, text)

    number, form, shape, payload = (values.get(key) for key in ("round", "type", "shape", "payload"))
    if set(values) != {"round", "type", "shape", "payload"}:
        return fault("malformed", "sent a record with other fields than a reply has")
    if not isinstance(number, int) or isinstance(number, bool):
        return fault("malformed", f"sent {number!r:.20} where the number of a round is due")
    if not isinstance(form, str) or not isinstance(shape, list):
        return fault("malformed", "sent no type, or no shape, with its payload")
    if not isinstance(payload, bytes):
        return fault("wrong-type", f"sent a {type(payload).__name__} where bytes are due")
    if form == _BYTES:
        return Reply(worker, number, payload)
    if form == _NOT_FINITE:
        words = payload[:_MOST_WORDS].decode("ascii", errors="replace")
        return fault("not-finite", "".join(each if each.isprintable() else " " for each in words))
    if form != _NUMBERS:
        return fault("wrong-type", f"sent numbers of type {form!r:.20}, due is float64")
    sides = shape[:_MOST_SIDES]
    if not all(isinstance(side, int) and not isinstance(side, bool) and side >= 0 for side in sides):
        return fault("malformed", "sent a shape that is none")
    if len(shape) != 1 or 8 * sides[0] != len(payload):
        return fault("wrong-shape", f"sent {len(payload)} bytes as an array of shape {sides!r:.40}")
    return Reply(worker, number, np.frombuffer(payload, dtype=_NUMBERS))


def most_bytes(payload: int) -> int:
    """The most bytes an honest reply takes up whose payload has that many."""
    return payload + _HEAD


def work_of(config: WorkerConfig, loss: str, l2: float) -> Work:
    """What every node of a run gets: the objective by name, and how to answer."""
    return Work(
        loss=loss,  # type: ignore[arg-type]  # the record refuses others
        l2=l2,
        compressor=config.compressor,
        error_feedback=config.error_feedback,
        local=config.method,
        seed=config.seed,
        hessian_terms=config.hessian_terms,
        run=uuid.uuid4().hex,
    )


def write_work(work: Work) -> Values:
    """How a node is to work, as values."""
    return {"work": work.model_dump_json()}


def read_work(values: Mapping[str, Any]) -> Work:
    """The inverse of `write_work`.

    Raises
    ------
    InvalidInput
        When it is no JSON table, or a value in it is missing or wrong.
    """
    try:
        table = json.loads(values["work"])
    except (KeyError, TypeError, ValueError) as error:
        raise Malformed(
            f"the server's instructions (table `work` of the message) cannot be read: {error!s:.80}"
        ) from None
    if not isinstance(table, dict):
        raise Malformed(f"the server's instructions (`work`) must be a table, got {table!r:.40}")
    return Work(**table)


def _bytes(array: Array) -> bytes:
    return np.ascontiguousarray(array, dtype=_NUMBERS).tobytes()


def _numbers(value: Any, name: str) -> Array:
    if not isinstance(value, bytes) or len(value) % 8:
        raise Malformed(f"broadcast whose {name} is not the bytes of numbers")
    return np.frombuffer(value, dtype=_NUMBERS).astype(np.float64)
