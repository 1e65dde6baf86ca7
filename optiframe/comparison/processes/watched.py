"""A child process that is watched: what it says, why it is gone, and its end with all it started."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from optiframe.comparison.cells import Limits
from optiframe.comparison.processes import exit_reasons
from optiframe.comparison.processes.memory import TreeMemory
from optiframe.comparison.processes.pipes import Pipes
from optiframe.comparison.processes.reaper_client import known_to_reaper
from optiframe.comparison.processes.spawn import start_child
from optiframe.comparison.units import in_words
from optiframe.errors import MissingPackage
from optiframe.printable import printable

Say = Callable[..., None]

_UNLIMITED = Limits()  # pinned to one thread; as much memory as there is
_TAIL = 8192  # bytes kept of what it writes to standard error: the stack of a crash fits in
_FRAMES = 4  # innermost frames shown: they reach from a library back to the solver's line
_TURN = 0.05  # seconds between two looks at whether it lives: nobody waits for less
_LAST_WORDS = 0.5  # seconds a hanging child has to write where it is


class WatchedChild:
    """`module.main()` in a fresh process, in a session of its own.

    It gets the task as one line of JSON and our ``sys.path``, and answers with lines of JSON
    on its standard output. Without a task, `ask` sends it what it reads from standard input. It never
    writes to our terminal: the end of what it writes to standard error is kept.
    When we die, it and all it started are killed. Of the limits, `threads` and `memory` (of it and all it
    started) are kept here, and the time by who calls `next`.
    """

    def __init__(self, module: str, task: Mapping[str, Any] | None, limits: Limits = _UNLIMITED) -> None:
        self._marker = secrets.token_hex(8)
        self._folder = Path(tempfile.mkdtemp(prefix="optiframe-"))  # the reaper removes it if we die
        self._known = known_to_reaper(0, self._marker, self._folder)
        group_is = self._known.__enter__()
        try:
            self._process = start_child(module, limits.threads, self._marker)
        except BaseException:
            self._ended()
            raise
        group_is(self._process.group)
        self._limit, self._held = limits.memory, 0
        self._memory: TreeMemory | None = None
        with contextlib.suppress(MissingPackage):  # without psutil the child's own bound has to do
            self._memory = TreeMemory(self._process.pid, self._process.supervisor)
        self._next_look = 0.0
        self._lines = b""
        self._errors = exit_reasons.Tail(_TAIL)
        self._pipes = Pipes(self._process, self._take, self._errors.add)
        if task is not None:
            self._pipes.write([memoryview(json.dumps(task).encode() + b"\n")], close=True)

    @property
    def gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def ask(self, parts: Iterable[memoryview], seconds: float) -> None:
        """Write to its standard input, one part after the other, until all is written or it is gone."""
        end = time.monotonic() + seconds
        self._pipes.write(parts, close=False)
        while self._pipes.writing and not self.gone and time.monotonic() < end:
            self._pipes.turn(_TURN)

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next thing it says; None when it is gone, over its memory, or silent for so many seconds."""
        end = time.monotonic() + seconds
        while True:
            line, newline, rest = self._lines.partition(b"\n")
            if newline:
                self._lines = rest
                with contextlib.suppress(ValueError, RecursionError):  # foreign code has written to it
                    said = json.loads(line)
                    if isinstance(said, dict):
                        return said
                continue
            if self._holds_too_much():
                return None
            gone = self.gone
            if not self._pipes.turn(min(_TURN, end - time.monotonic())) and (gone or time.monotonic() >= end):
                return None

    def why_gone(self, seconds: float) -> str:
        """Why `next(seconds)` gave None, with the stack's end; a child that still runs is killed."""
        if self._process.poll() is None:
            reason = f"killed after {seconds:g} s"
            if self._limit is not None and self._held > self._limit:
                reason = (
                    f"killed when it held {in_words(self._held)}, over the limit of {in_words(self._limit)}"
                )
            else:
                self._ask_where_it_is()
            self.kill()
            return reason + self._stack("; it was here:")
        code = cast(int, self._process.returncode)
        hint = (
            "; perhaps the memory ran out" if code == -signal.SIGKILL else " before it was done" * (code >= 0)
        )
        return f"the process {exit_reasons.in_words(code)}{hint}" + self._stack("; it was here:")

    def kill(self) -> None:
        """End it and everything it started."""
        self._process.end()
        if self._memory is not None:
            self._memory.close()
        self._ended()
        self._pipes.close()

    def _ended(self) -> None:
        self._known.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _holds_too_much(self) -> bool:
        if self._memory is None or self._limit is None or time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + _TURN
        self._held = self._memory.sample()
        return self._held > self._limit

    def _take(self, said: bytes) -> None:
        self._lines += said

    def _ask_where_it_is(self) -> None:
        if not hasattr(signal, "SIGUSR1"):
            return
        self._process.send_signal(signal.SIGUSR1)  # faulthandler answers, even from within C code
        end = time.monotonic() + _LAST_WORDS
        while time.monotonic() < end and b"recent call first" not in self._errors.data:
            self._pipes.turn(_TURN)
        while self._pipes.turn(_TURN) and time.monotonic() < end:
            pass

    def _stack(self, words: str) -> str:
        """The innermost frames of the main thread, which comes last, or else its last words."""
        text = printable(self._errors.data.decode(errors="replace"))
        frames = re.findall(
            r'^  File "((?!<frozen).*)", line (\d+) in (.*)$', text.rpartition("recent call first")[2], re.M
        )
        if frames and "recent call first" in text:
            return words + "".join(f"\n{file} line {line}, {name}" for file, line, name in frames[:_FRAMES])
        last = [line for line in text.splitlines() if line.strip()][-_FRAMES:]
        return "; it last wrote:\n" + "\n".join(last) if last else ""


def private_channel() -> Say:
    """For the child: keep standard output for the parent; what foreign code prints goes where errors go."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")  # not inherited by what a solver starts
    os.dup2(2, 1)
    faulthandler.enable()
    if hasattr(faulthandler, "register"):  # not on Windows: asked for before a kill, to show where it hangs
        faulthandler.register(signal.SIGUSR1, all_threads=True)

    def say(**event: Any) -> None:
        channel.write(json.dumps(event) + "\n")
        channel.flush()

    return say
