"""A cell in a process of its own: started, watched, and ended with everything it started.

Needs a POSIX system. What only Linux has (bounds on allocations, exact peaks of memory, finding
what left the session by its environment without psutil) is done by sampling elsewhere.
"""

from __future__ import annotations

import math
import os
import secrets
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optiframe.comparison.endings import Tail, died, in_words, memory_kills, stacks
from optiframe.comparison.guarded import guarded
from optiframe.comparison.guardian import MARKER, end_all
from optiframe.comparison.memory import TreeMemory
from optiframe.comparison.records import Limits, Outcome, Request
from optiframe.comparison.wire import STACKS, Board, Malformed, read_reply, request_bytes
from optiframe.errors import OptiframeError
from optiframe.results import Status

# It waits for its request before anything else: the request is written when the guardian knows of
# the child, so a child whose parent dies before that ends at once instead of after its imports.
# Its path is ours: -m would begin it with the current folder, whatever lies there.
_RUN = (
    "import sys; sys.stdin.buffer.peek(1) or sys.exit(1); sys.path[:] = sys.argv[1:]; "
    "from optiframe.comparison.child import main; main()"
)
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
)
_TURN = 0.05  # seconds between two looks: what is over a limit is not over it for long
_TAIL = 64 * 1024  # bytes kept of what it writes: enough for the stacks of many threads
_OUTPUT_TAIL = 8 * 1024  # and of its standard output, which rarely says why something failed
_READ = 1024 * 1024  # bytes read at once, so that a flood of output costs little


@dataclass(frozen=True)
class Progress:
    """Where a running cell is: its stage, and within a solve the iterations and the residual.

    `elapsed` is seconds since the process was started, to be seen against the hard limit.
    """

    key: str
    stage: str
    iterations: int
    residual: float
    elapsed: float


def run_isolated(
    request: Request,
    tell: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Run one cell in a fresh process; what it does there becomes an outcome, whatever it is.

    Parameters
    ----------
    request
        What to run, and its limits.
    tell
        Told where the cell is whenever that has changed, at most 20 times a second, from this thread.
    stop
        Once set, the process is killed and the outcome `cancelled`.

    Returns
    -------
    Outcome
        Always; the process and all it started, in whatever session, are gone by then.
        They are also when this raises, such as `KeyboardInterrupt`, and within about a second
        when this process dies.

    Raises
    ------
    MissingPackage
        Without psutil (``optiframe[compare]``).
    OptiframeError
        Where the system cannot start a process, or is not a POSIX system.
    """
    if os.name != "posix":
        raise OptiframeError(
            "a comparison needs a POSIX system (Linux, macOS): it kills whole process groups"
        )
    marker = secrets.token_hex(8)
    folder = Path(tempfile.mkdtemp(prefix="optiframe-"))
    with guarded(0, marker, folder) as group_is:
        try:
            return _Run(request, folder, marker, tell, stop).outcome(group_is)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class _Run:
    """One child from its start to its outcome."""

    def __init__(
        self,
        request: Request,
        folder: Path,
        marker: str,
        tell: Callable[[Progress], None] | None,
        stop: threading.Event | None,
    ) -> None:
        self._request, self._folder, self._tell, self._stop = request, folder, tell, stop
        self._marker = marker
        self._board = Board(folder, create=True)
        self._output, self._errors = Tail(_OUTPUT_TAIL), Tail(_TAIL)
        self._selector = selectors.DefaultSelector()
        self._ended: int | None = None  # a descriptor that becomes readable when the child ends

    def outcome(self, group_is: Callable[[int], None]) -> Outcome:
        kills = memory_kills()
        self._started = time.monotonic()
        self._deadline = self._started + self._request.limits.time
        child = _start(self._request.limits, self._marker)
        try:
            try:
                group_is(child.pid)
                memory = TreeMemory(child.pid)
                self._connect(child)
                verdict = self._watch(child, memory)
            finally:
                end_all(child.pid, self._marker)
                group_is(0)  # before it is waited for: then its number may be given to another
                child.wait()
            wall = time.monotonic() - self._started
            self._drain()
        finally:
            self._disconnect(child)
        return self._account(child.returncode, verdict, wall, memory.peak, memory_kills() > kills)

    def _connect(self, child: subprocess.Popen[bytes]) -> None:
        """Pipes without waiting: everything is read, and the request written, between two looks."""
        said = request_bytes(self._request, self._folder, self._deadline)
        for pipe, tail in ((child.stdout, self._output), (child.stderr, self._errors)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, tail)
        assert child.stdin is not None
        os.set_blocking(child.stdin.fileno(), False)
        self._selector.register(child.stdin, selectors.EVENT_WRITE, memoryview(said))
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):  # an old kernel, or a sandbox: then we look every turn
                self._ended = os.pidfd_open(child.pid)
                self._selector.register(self._ended, selectors.EVENT_READ, None)

    def _watch(self, child: subprocess.Popen[bytes], memory: TreeMemory) -> Outcome | None:
        """Until the child ends (None) or has to be killed (why)."""
        limits, last, next_look = self._request.limits, None, 0.0
        while True:
            now = time.monotonic()
            if now >= self._deadline:
                return Outcome(
                    Status.TIMEOUT, f"killed at the hard limit of {limits.time:g} s{self._where()}"
                )
            if self._stop is not None and self._stop.is_set():
                return Outcome(Status.CANCELLED, f"stopped by the user{self._where()}")
            if now >= next_look:
                held = memory.sample()
                if limits.memory is not None and held > limits.memory:
                    return Outcome(
                        Status.OUT_OF_MEMORY,
                        f"killed when it held {held / 1e6:,.0f} MB, over the limit of "
                        f"{limits.memory / 1e6:g} MB{self._where()}",
                    )
                if self._tell is not None and (news := self._board.read()) != last:
                    last = news
                    self._tell(Progress(self._request.key, *news, elapsed=now - self._started))
                next_look = now + _TURN
            if self._turn(min(next_look, self._deadline) - time.monotonic()) or (
                self._ended is None and child.poll() is not None
            ):
                return None

    def _turn(self, seconds: float) -> bool:
        """Read and write what can be; whether the child has ended."""
        ended = False
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fileobj == self._ended:
                ended = True
            elif isinstance(key.data, memoryview):
                self._write(key.fileobj, key.data)
            else:
                self._read(key.fileobj, key.data)
        return ended

    def _write(self, pipe: Any, left: memoryview) -> None:
        try:
            written = os.write(pipe.fileno(), left[:_READ])
        except BlockingIOError:
            return
        except OSError:  # it ended, or closed its input
            written = len(left)
        self._selector.unregister(pipe)
        if written < len(left):
            self._selector.register(pipe, selectors.EVENT_WRITE, left[written:])
        else:
            pipe.close()

    def _read(self, pipe: Any, tail: Tail) -> bool:
        try:
            data = os.read(pipe.fileno(), _READ)
        except BlockingIOError:
            return False
        if data:
            tail.add(data)
            return True
        self._selector.unregister(pipe)  # it closed this stream; it may still run
        return False

    def _drain(self) -> None:
        """What was written before the end; never waits for a survivor that holds the pipe open."""
        for key in tuple(self._selector.get_map().values()):
            if isinstance(key.data, Tail):
                while self._read(key.fileobj, key.data):
                    pass

    def _disconnect(self, child: subprocess.Popen[bytes]) -> None:
        self._selector.close()
        if self._ended is not None:
            os.close(self._ended)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _where(self) -> str:
        stage, iterations, _ = self._board.read()
        return f" while {stage}{f', after {iterations} iterations' if iterations else ''}"

    def _account(
        self, code: int, verdict: Outcome | None, wall: float, peak: int, memory_kill: bool
    ) -> Outcome:
        outcome = verdict
        if outcome is None:
            try:
                outcome = read_reply(self._folder)
            except Malformed as error:
                outcome = Outcome(Status.CRASHED, str(error))
        stack = stacks(self._folder / STACKS)
        if outcome is None:
            outcome = died(code, memory_kill, self._errors.data, self._where())
        elif code != 0 and verdict is None:
            found = {"level": "warning", "text": f"it answered, then it {in_words(code)}", "about": []}
            outcome = replace(outcome, findings=(*outcome.findings, found))
        highest = max(peak, 0.0 if math.isnan(outcome.memory) else outcome.memory)
        return replace(
            outcome,
            wall=wall,
            memory=float(highest) if highest else math.nan,
            traceback=outcome.traceback or (stack if outcome.status.of_comparison else ""),
            stderr=self._errors.text() + self._output.text("\n[standard output]\n"),
        )


def _start(limits: Limits, marker: str) -> subprocess.Popen[bytes]:
    outer = os.environ.get(MARKER)
    environment = {
        **os.environ,
        **dict.fromkeys(_THREADS, str(limits.threads)),
        "PYTHONHASHSEED": "0",  # the order of a set of names must not decide an answer
        MARKER: f"{outer}:{marker}" if outer else marker,  # a comparison inside a cell ends with the cell
    }
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _RUN, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise OptiframeError(f"cannot start a process for a cell: {error.strerror}") from error
