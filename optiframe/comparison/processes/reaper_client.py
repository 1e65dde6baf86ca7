"""Telling the reaper which processes run, so that none outlives this one."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from optiframe.comparison.processes import reaper

_PATIENCE = 2.0  # seconds the reaper may take to end when we do: it has nothing left to do


class _Client:
    """The one reaper of this process, started when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._listed: dict[str, str] = {}

    def add(self, group: int, marker: str, folder: Path) -> None:
        with self._lock:
            if self._owner != os.getpid():  # never started, or we are a forked copy of who started it
                self._process, self._owner, self._listed = None, os.getpid(), {}
            self._listed[marker] = f"+ {group} {marker} {folder}\n"
            self._tell(self._listed[marker])

    def remove(self, marker: str) -> None:
        with self._lock:
            if self._listed.pop(marker, None) is not None:
                self._tell(f"- {marker}\n")

    def _tell(self, line: str) -> None:
        if self._process is not None and self._process.poll() is None and self._write(line):
            return
        self._start()  # the first time, or somebody killed it
        self._write("".join(self._listed.values()))

    def _write(self, text: str) -> bool:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(os.fsencode(text))
            self._process.stdin.flush()
        except OSError:
            return False
        return True

    def _start(self) -> None:
        if self._process is not None:
            self._end(self._process)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", reaper.__file__, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",  # it may outlive us by a moment; it holds no folder
            start_new_session=True,
        )

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(OSError, subprocess.TimeoutExpired):
            assert process.stdin is not None
            process.stdin.close()
        # Ctrl-C at the very end of our process would only show where it was: the reaper ends anyway.
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(_PATIENCE)

    def close(self) -> None:
        """At the end of this process."""
        if self._process is not None and self._owner == os.getpid():
            self._end(self._process)
            self._process = None


_client = _Client()
atexit.register(_client.close)


@contextmanager
def known_to_reaper(group: int, marker: str, folder: Path) -> Iterator[Callable[[int], None]]:
    """If we die while this lasts, the reaper kills the group and all that carries the marker.

    It removes the folder, too. Gives a function that tells the reaper another group; 0 is none, which it
    must be told before the number of a group that has ended can belong to somebody else.
    """
    _client.add(group, marker, folder)
    try:
        yield lambda group: _client.add(group, marker, folder)
    finally:
        _client.remove(marker)
