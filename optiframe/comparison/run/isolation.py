"""A cell in a process of its own: started, watched, and ended with everything it started.

Needs a POSIX system. What only Linux has (bounds on allocations, exact peaks of memory, finding
what left the session by its environment without psutil) is done by sampling elsewhere.
"""

from __future__ import annotations

import math
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Request
from optiframe.comparison.processes.exit_reasons import Tail, died, in_words, memory_kills, stacks
from optiframe.comparison.processes.memory import TreeMemory
from optiframe.comparison.processes.pipes import Pipes
from optiframe.comparison.processes.reaper_client import known_to_reaper
from optiframe.comparison.processes.spawn import Child, start_child
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.judging import Judges
from optiframe.comparison.run.wire import STACKS, BoardReader, Malformed, read_reply, request_parts
from optiframe.errors import OptiframeError
from optiframe.findings import Finding
from optiframe.solving.result import Status

_TURN = 0.05  # seconds between two looks: what is over a limit is not over it for long
_MUCH = 0.1  # share of the hard limit from which a warm-up is mentioned when a cell runs into it
_TAIL = 64 * 1024  # bytes kept of what it writes: enough for the stacks of many threads
_OUTPUT_TAIL = 8 * 1024  # and of its standard output, which rarely says why something failed
_LAST_LOOK = "Timeout ("  # what faulthandler writes first when the limit is near


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
    judges: Judges | None = None,
) -> Outcome:
    """Run one cell in a fresh process; what it does there becomes an outcome, whatever it is.

    Its answer is judged in another process, which never runs the solver's code.

    Parameters
    ----------
    request
        What to run, and its limits.
    tell
        Told where the cell is whenever that has changed, at most 20 times a second, from this thread.
    stop
        Once set, the process is killed and the outcome `cancelled`.
    judges
        Who judges the answer; None: a process that is started for this one.

    Returns
    -------
    Outcome
        Always; the process and all it started, in whatever session, are gone by then.
        They are also when this raises, such as `KeyboardInterrupt`, and within about a second
        when this process dies.

    Raises
    ------
    MissingPackage
        Without psutil (the extra `compare`).
    OptiframeError
        Where the system cannot start a process, and where the temporary folder is full.
    """
    marker = secrets.token_hex(8)
    with (
        _room() as (folder, board),
        (judges or Judges()).prepared(request, stop) as case,
        known_to_reaper(0, marker, folder) as group_is,
    ):
        return case.judged(_Run(request, folder, board, tell, stop).outcome(marker, group_is), folder)


@contextmanager
def _room() -> Iterator[tuple[Path, BoardReader]]:
    """A folder for the two processes, with the board in it; removed at the end."""
    folder: Path | None = None
    board: BoardReader | None = None
    try:
        try:
            folder = Path(tempfile.mkdtemp(prefix="optiframe-"))
            board = BoardReader(folder)
        except OSError as error:
            where = f" {tempfile.tempdir}" if tempfile.tempdir else ""  # none: no folder can be written to
            raise OptiframeError(
                f"no room for a cell in the temporary folder{where} ({error.strerror}); "
                "make room there, or set TMPDIR to another folder"
            ) from None
        yield folder, board
    finally:
        if board is not None:
            board.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


class _Run:
    """One child from its start to its outcome."""

    def __init__(
        self,
        request: Request,
        folder: Path,
        board: BoardReader,
        tell: Callable[[Progress], None] | None,
        stop: threading.Event | None,
    ) -> None:
        self._request, self._folder, self._tell, self._stop = request, folder, tell, stop
        self._board = board
        self._output, self._errors = Tail(_OUTPUT_TAIL), Tail(_TAIL)

    def outcome(self, marker: str, group_is: Callable[[int], None]) -> Outcome:
        kills = memory_kills()
        self._started = time.monotonic()
        self._deadline = self._started + self._request.limits.time
        child = start_child("optiframe.comparison.run.cell_main", self._request.limits.threads, marker)
        memory = TreeMemory(child.pid, child.supervisor)
        pipes = Pipes(child, self._output.add, self._errors.add)
        try:
            try:
                group_is(child.group)
                pipes.write(request_parts(self._request, self._folder, self._deadline), close=True)
                verdict = self._watch(child, pipes, memory)
            finally:
                child.end()
                group_is(0)
                memory.close()
            wall = time.monotonic() - self._started
            pipes.drain()
        finally:
            pipes.close()
        assert child.returncode is not None
        outcome = self._account(child.returncode, verdict, wall, memory.peak, memory_kills() > kills)
        return replace(outcome, findings=(*outcome.findings, *_abandoned(child.left))).printable()

    def _watch(self, child: Child, pipes: Pipes, memory: TreeMemory) -> Outcome | None:
        """Until the child ends (None) or has to be killed (why)."""
        limits, last, next_look = self._request.limits, None, 0.0
        if (ended := child.ended()) is not None:  # else we look every turn
            pipes.wake(ended)
        while child.poll() is None:
            now = time.monotonic()
            if now >= self._deadline:
                return self._timeout()
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
            pipes.turn(min(next_look, self._deadline) - time.monotonic())
        return None

    def _timeout(self) -> Outcome:
        limit = self._request.limits.time
        return Outcome(
            Status.TIMEOUT, f"killed at the hard limit of {limit:g} s{self._where()}{self._spent()}"
        )

    def _where(self) -> str:
        stage, iterations, _ = self._board.read()
        return f" while {stage}{f', after {iterations} iterations' if iterations else ''}"

    def _spent(self) -> str:
        """That the warm-up took much of the time, where it did: one step of a black box is all of it."""
        seconds, limit = self._board.warmup, self._request.limits.time
        if self._board.read()[0] == "warming up":
            return "; raise [limits] time or set warmup = false"
        if seconds < _MUCH * limit:
            return ""
        return f"; the warm-up took {seconds:.1f} s of it: raise [limits] time or set warmup = false"

    def _account(
        self, code: int, verdict: Outcome | None, wall: float, peak: int, memory_kill: bool
    ) -> Outcome:
        outcome = verdict
        if outcome is None:
            try:
                outcome = read_reply(self._folder, wall)
            except Malformed as error:
                outcome = Outcome(Status.CRASHED, str(error))
        stack = stacks(self._folder / STACKS)
        if outcome is None and code == -signal.SIGSEGV and stack.startswith(_LAST_LOOK):
            # Writing down the stack of a running thread is not safe: the limit was near, and that ended it.
            outcome = self._timeout()
        if outcome is None:
            outcome = died(code, memory_kill, self._errors.data, self._where())
        elif code != 0 and verdict is None:
            text = f"it answered, then it {in_words(code)}"
            found = Finding("warning", text, identifier="cell.failed-after-answer")
            outcome = replace(outcome, findings=(*outcome.findings, asdict(found)))
        highest = max(peak, 0.0 if math.isnan(outcome.memory) else outcome.memory)
        return replace(
            outcome,
            wall=wall,
            memory=float(highest) if highest else math.nan,
            traceback=outcome.traceback or (stack if outcome.status.of_comparison else ""),
            stderr=self._errors.text() + self._output.text("\n[standard output]\n"),
        )


def _abandoned(processes: int) -> tuple[dict[str, Any], ...]:
    """A finding where a cell ended before what it had started."""
    if not processes:
        return ()
    text = f"It ended while {processes} of the processes it had started still ran; they were killed."
    return (asdict(Finding("note", text, identifier="cell.left-processes")),)
