"""What a parent and the child process of a cell say to each other.

The request goes down as one line of JSON followed by the pickled objects' bytes and their large
arrays as they lie in memory, through the child's standard input. The outcome comes back as a JSON
file in a folder of their own, and is checked like any other data: the child runs foreign code.
Where the child is comes through a few bytes of shared memory, so that telling costs the solver
nothing.
"""

from __future__ import annotations

import errno
import json
import math
import mmap
import os
import pickle
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from optiframe.comparison.cells import Checksums, Limits, Measure, Pickled, Request
from optiframe.comparison.processes.exit_reasons import read_regular
from optiframe.comparison.records import HISTORY, Outcome
from optiframe.files.plain import plain
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.printable import printable
from optiframe.solving.result import Status

REPLY = "outcome.json"
STACKS = "stacks.txt"
_BOARD = "board"
_LARGEST = 256 * 2**20  # bytes of a reply; traces grow with the logarithm of the iterations
_TEXT = 64 * 1024  # characters kept of a message or traceback: an error may print a whole array
_FINDING = 4096  # and of a finding, which is a sentence
_MANY = 1000  # findings kept, and names of what one is about: more than anybody reads
_GRANULE = 0.05  # seconds by which two clocks that are right may differ over a cell
_COUNT = 2**63 - 1  # the largest count that the board and the store have room for


class Malformed(Exception):
    """A reply is not what it should be."""


def request_parts(request: Request, folder: Path, deadline: float) -> list[memoryview]:
    """A request on its way down, in pieces to be sent one after the other; arrays are not copied.

    `deadline` is in terms of `time.monotonic`.
    """
    objects = {
        kind: [memoryview(one.content), *(pickle.PickleBuffer(buffer).raw() for buffer in one.buffers)]
        for kind, one in request.objects.items()
    }
    header = {part.name: getattr(request, part.name) for part in fields(request)}
    header |= {
        "objects": {kind: [part.nbytes for part in parts] for kind, parts in objects.items()},
        "limits": asdict(request.limits),
        "measure": asdict(request.measure),
        "checksums": asdict(request.checksums),
        "own folder": str(folder),
        "deadline": deadline,
    }
    said = memoryview(json.dumps(header).encode() + b"\n")
    return [said, *(part for parts in objects.values() for part in parts if part.nbytes)]


def read_request(stream: BinaryIO) -> tuple[Request, Path, float]:
    """What `request_parts` was given; `EOFError` when the parent is gone before all was said."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    header = json.loads(line)
    folder, deadline = Path(header.pop("own folder")), float(header.pop("deadline"))
    # Arrays are made of these bytes, which may be written to: there is no second copy.
    objects = {kind: [bytearray(size) for size in sizes] for kind, sizes in header["objects"].items()}
    for parts in objects.values():
        for part in parts:
            _fill(stream, memoryview(part))
    header["objects"] = {kind: Pickled(bytes(first), tuple(rest)) for kind, (first, *rest) in objects.items()}
    header["limits"] = Limits(**header["limits"])
    header["measure"] = Measure(**header["measure"])
    header["checksums"] = Checksums(**header["checksums"])
    header["modules"], header["path"] = tuple(header["modules"]), tuple(header["path"])
    return Request(**header), folder, deadline


def _fill(stream: BinaryIO, buffer: memoryview) -> None:
    while buffer:
        read = stream.readinto(buffer)  # type: ignore[attr-defined]  # every binary stream has it
        if not read:
            raise EOFError
        buffer = buffer[read:]


def write_reply(outcome: Outcome, folder: Path) -> None:
    """Leave the outcome for the parent; all of it is there, or nothing.

    Raises `OSError` where there is no room for it. What is too long to keep is cut, and half
    characters, as from a file name that is no text, become ``?``: no reader of JSON takes them.
    """
    data = asdict(outcome)
    for key in ("message", "traceback"):
        data[key] = clipped(data[key])
    data["findings"] = _brief(data["findings"])
    unfinished = folder / f"{REPLY}.part"
    text = json.dumps(data, default=plain, ensure_ascii=False)
    unfinished.write_bytes(text.encode("utf-8", "replace"))
    unfinished.replace(folder / REPLY)


def _brief(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Findings as short as people read them: a solver may warn at every step."""
    kept: list[Mapping[str, Any]] = [
        {**found, "text": clipped(str(found["text"]), _FINDING), "about": _first_ones(found["about"])}
        for found in findings[:_MANY]
    ]
    if len(findings) > _MANY:
        more = f"{len(findings) - _MANY} more findings are left out"
        kept.append(asdict(Finding("note", more, identifier="cell.findings-left-out")))
    return kept


def _first_ones(about: Any) -> list[Any]:
    listed = about if isinstance(about, list | tuple) else [about]
    kept = [clipped(item, _FINDING) if isinstance(item, str) else item for item in listed[:_MANY]]
    return [*kept, f"... {len(listed) - _MANY} more"] if len(listed) > _MANY else kept


def read_reply(folder: Path, wall: float) -> Outcome | None:
    """The outcome the child left, checked; None when it left nothing.

    `wall` is how long the child lived, in seconds: nothing it did can have taken longer.

    Raises
    ------
    Malformed
        With what is wrong with it.
    """
    try:
        content = read_regular(folder / REPLY, _LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Malformed(f"its reply cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise Malformed(f"its reply has more than {_LARGEST // 2**20} MiB")
    from pydantic import ValidationError

    try:
        outcome: Outcome = _adapter().validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        raise Malformed(f"its reply is not an outcome: {said}") from None
    _check(outcome, wall)
    return outcome


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Outcome)


def _check(outcome: Outcome, wall: float) -> None:
    """What the types of an outcome do not say; `wall` is how long its process lived, in seconds."""
    for key in ("time", "setup", "evaluation_time", "loading", "warmup", "cpu", "memory"):
        value = getattr(outcome, key)
        if not (math.isnan(value) or 0 <= value < math.inf):
            raise Malformed(f"its reply is not an outcome: {key} is {value}")
    claimed = max(outcome.time, outcome.setup, outcome.loading, outcome.warmup, *outcome.times, key=_known)
    if _known(claimed) > wall + _GRANULE:
        raise Malformed(
            f"its reply is not an outcome: it claims {number(claimed)} s of a process that lived "
            f"{number(wall)} s"
        )
    if outcome.iterations < 0 or not all(0 <= value < math.inf for value in outcome.times):
        raise Malformed("its reply is not an outcome: a negative time or number of iterations")
    if outcome.iterations > _COUNT:
        raise Malformed(f"its reply is not an outcome: it counts {number(outcome.iterations)} iterations")
    if outcome.status is Status.CANCELLED:
        raise Malformed("its reply is not an outcome: only who started the cell can cancel it")
    if len({len(column) for column in outcome.trace.values()}) > 1:
        raise Malformed("its reply is not an outcome: the trace's columns differ in length")
    if outcome.history and (
        set(outcome.history) != set(HISTORY) or len({len(column) for column in outcome.history.values()}) > 1
    ):
        raise Malformed("its reply is not an outcome: its history is not of evaluations and merits")


def _known(seconds: float) -> float:
    return -1.0 if math.isnan(seconds) else seconds


def clipped(text: str, length: int = _TEXT) -> str:
    """Beginning and end of a text that is too long to keep."""
    if len(text) <= length:
        return text
    half = length // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters ...\n{text[-half:]}"


# On the board: stage, iterations, residual and seconds of the solve; the seconds that the warm-up took.
_FORM = struct.Struct("<24sqdd")
_SPENT = struct.Struct("<d")


class BoardReader:
    """Where the child is, for the parent: the file that the child's `Board` writes to, made here.

    It is read and not mapped: the child may cut it off, and a mapping would then kill the reader.
    A half-written value may be met now and then, which the next look corrects.

    Raises
    ------
    OSError
        When there is no room for it.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / _BOARD, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._last = _FORM.pack(b"starting", 0, math.nan, 0.0) + _SPENT.pack(0.0)
        # Really written: where the disk is full, the first touch of a hole in a file kills the child.
        if os.write(self._file, self._last) < len(self._last):
            self.close()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _read(self) -> bytes:
        with suppress(OSError):  # the disk is gone
            content = os.pread(self._file, len(self._last), 0)
            if len(content) == len(self._last):
                self._last = content
        return self._last

    def read(self) -> tuple[str, int, float]:
        """Stage, iterations and residual."""
        stage, iterations, residual, _ = _FORM.unpack_from(self._read())
        return printable(stage.rstrip(b"\0").decode(errors="replace")), iterations, residual

    @property
    def warmup(self) -> float:
        """Seconds that the warm-up took; 0.0 while there has been none."""
        seconds: float = _SPENT.unpack_from(self._read(), _FORM.size)[0]
        return seconds

    def close(self) -> None:
        """Let go of the file; `read` gives the last news from then on."""
        os.close(self._file)
        self._file = -1


class Board:
    """Where the child is, written by the child into memory that is a file: without a system call."""

    def __init__(self, folder: Path) -> None:
        descriptor = os.open(folder / _BOARD, os.O_RDWR)
        try:
            self._memory = mmap.mmap(descriptor, _FORM.size + _SPENT.size)
        finally:
            os.close(descriptor)
        self._stage = b"starting"
        self.iterations = 0

    def stage(self, name: str) -> None:
        """Begin another stage."""
        self._stage = name.encode()[:24]
        self.iterations = 0
        _FORM.pack_into(self._memory, 0, self._stage, 0, math.nan, 0.0)

    def update(self, iterations: int, elapsed: float, residual: float) -> None:
        """Take note of where the solve is; see `Watch`."""
        self.iterations = iterations
        try:
            _FORM.pack_into(self._memory, 0, self._stage, iterations, residual, elapsed)
        except struct.error:  # a count without bounds; the outcome is refused for it
            _FORM.pack_into(self._memory, 0, self._stage, min(iterations, _COUNT), math.nan, elapsed)

    def warmed_up(self, seconds: float) -> None:
        """Take note of how long the warm-up took."""
        _SPENT.pack_into(self._memory, _FORM.size, seconds)

    def close(self) -> None:
        """The solve has ended; the board stays, for its last news."""
