"""What a parent and the child process of a cell say to each other.

The request goes down as one line of JSON followed by the pickled objects' bytes, through the
child's standard input. The outcome comes back as a JSON file in a folder of their own,
and is checked like any other data: the child runs foreign code. Where the child is comes
through a few bytes of shared memory, so that telling costs the solver nothing.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from optiframe.comparison.records import Limits, Measure, Outcome, Request

REPLY = "outcome.json"
STACKS = "stacks.txt"
_BOARD = "board"
_LARGEST = 256 * 2**20  # bytes of a reply; traces grow with the logarithm of the iterations
_TEXT = 64 * 1024  # characters kept of a message or traceback: an error may print a whole array


class Malformed(Exception):
    """A reply is not what it should be."""


def request_bytes(request: Request, folder: Path, deadline: float) -> bytes:
    """A request on its way down; `deadline` in terms of `time.monotonic`."""
    objects = request.objects or b""
    header = {part.name: getattr(request, part.name) for part in fields(request)}
    header |= {
        "objects": len(objects),
        "limits": asdict(request.limits),
        "measure": asdict(request.measure),
        "own folder": str(folder),
        "deadline": deadline,
    }
    return json.dumps(header).encode() + b"\n" + objects


def read_request(stream: BinaryIO) -> tuple[Request, Path, float]:
    """What `request_bytes` was given; `EOFError` when the parent is gone before all was said."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    header = json.loads(line)
    folder, deadline = Path(header.pop("own folder")), float(header.pop("deadline"))
    size = header.pop("objects")
    objects = stream.read(size)
    if len(objects) < size:
        raise EOFError
    header["limits"] = Limits(**header["limits"])
    header["measure"] = Measure(**header["measure"])
    header["modules"], header["path"] = tuple(header["modules"]), tuple(header["path"])
    return Request(**header, objects=objects or None), folder, deadline


def write_reply(outcome: Outcome, folder: Path) -> None:
    """Leave the outcome for the parent; all of it is there, or nothing."""
    data = asdict(outcome)
    for key in ("message", "traceback"):
        data[key] = clipped(data[key])
    unfinished = folder / f"{REPLY}.part"
    unfinished.write_text(json.dumps(data, default=_plain), encoding="utf-8")
    unfinished.replace(folder / REPLY)


def read_reply(folder: Path) -> Outcome | None:
    """The outcome the child left, checked; None when it left nothing.

    Raises
    ------
    Malformed
        With what is wrong with it.
    """
    path = folder / REPLY
    try:
        if path.stat().st_size > _LARGEST:
            raise Malformed(f"its reply has more than {_LARGEST // 2**20} MiB")
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Malformed(f"its reply cannot be read: {error.strerror}") from None
    from pydantic import ValidationError

    try:
        outcome: Outcome = _adapter().validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Malformed(f"its reply is not an outcome: {where}: {first['msg']}") from None
    _check(outcome)
    return outcome


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Outcome)


def _check(outcome: Outcome) -> None:
    """What the types of an outcome do not say."""
    for key in ("time", "setup", "judging", "loading", "warmup", "cpu", "memory"):
        value = getattr(outcome, key)
        if not (math.isnan(value) or 0 <= value < math.inf):
            raise Malformed(f"its reply is not an outcome: {key} is {value}")
    if outcome.iterations < 0 or not all(0 <= value < math.inf for value in outcome.times):
        raise Malformed("its reply is not an outcome: a negative time or number of iterations")
    if len({len(column) for column in outcome.trace.values()}) > 1:
        raise Malformed("its reply is not an outcome: the trace's columns differ in length")


def clipped(text: str) -> str:
    """Beginning and end of a text that is too long to keep."""
    half = _TEXT // 2
    return (
        text
        if len(text) <= _TEXT
        else f"{text[:half]}\n... {len(text) - _TEXT} characters ...\n{text[-half:]}"
    )


def plain(value: Any) -> Any:
    """A value as JSON has it: numbers and text as they are, containers of them, the rest as text."""
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    item = getattr(value, "item", None)  # a NumPy number
    number = item() if callable(item) and getattr(value, "size", 2) == 1 else value
    return number if isinstance(number, str | bool | int | float) else str(value)


class Board:
    """A few bytes both processes see: the stage, iterations, residual and seconds of the solve.

    Written without a system call; a reader may meet a half-written value now and then, which
    the next look corrects.
    """

    _FORM = struct.Struct("<24sqdd")

    def __init__(self, folder: Path, create: bool = False) -> None:
        flags = os.O_RDWR | (os.O_CREAT if create else 0)
        descriptor = os.open(folder / _BOARD, flags, 0o600)
        try:
            if create:
                os.ftruncate(descriptor, self._FORM.size)
            self._memory = mmap.mmap(descriptor, self._FORM.size)
        finally:
            os.close(descriptor)
        self._stage = b"starting"
        if create:
            self.stage("starting")

    def stage(self, name: str) -> None:
        """Begin another stage."""
        self._stage = name.encode()[:24]
        self._FORM.pack_into(self._memory, 0, self._stage, 0, math.nan, 0.0)

    def update(self, iterations: int, elapsed: float, residual: float) -> None:
        """Take note of where the solve is; see `Watch`."""
        self._FORM.pack_into(self._memory, 0, self._stage, iterations, residual, elapsed)

    def close(self) -> None:
        """The solve has ended; the board stays, for its last news."""

    def read(self) -> tuple[str, int, float]:
        """Stage, iterations and residual."""
        stage, iterations, residual, _ = self._FORM.unpack_from(self._memory)
        return stage.rstrip(b"\0").decode(errors="replace"), iterations, residual
