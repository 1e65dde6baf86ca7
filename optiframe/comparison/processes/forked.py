"""Child processes that a server forks, as seen by the process that has them started. Linux only."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, cast

from optiframe.comparison.processes.fork_server import LENGTH
from optiframe.comparison.processes.reaper import MARKER, end_all

# Variables that only count when the interpreter or a library is loaded: another server for other values.
_AT_START = ("PYTHON", "LD_", "NPY_", "SCIPY_", "OMP_", "OPENBLAS_", "MKL_", "BLIS_", "VECLIB_", "NUMEXPR_")
_SERVE = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from optiframe.comparison.processes.fork_server import main; main(int(sys.argv[1]))"
)
_START = 60.0  # seconds for a server to import and fork on the slowest machine
_END = 7.0  # seconds for a supervisor, or a server, to end: it may have much to kill


class Forked:
    """A fork of the server, with a supervisor of its own."""

    group = 0  # the supervisor ends it when we die

    def __init__(self, server: _Server, module: str, environment: Mapping[str, str]) -> None:
        self._code: int | None = None
        self.left = 0
        self._handles: list[int] = []  # of the child and of its supervisor, once they are known
        self._marker = environment[MARKER]
        self._said = b""
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for reading in (True, False, False, True, False):  # as the server's side is used
                read, write = os.pipe()
                theirs.append(read if reading else write)
                ours.append(write if reading else read)
            order = {
                "module": module,
                "environment": dict(environment),
                "folder": _folder(),
                "path": [str(entry) for entry in sys.path],
            }
            server.send(json.dumps(order).encode(), theirs)
        except BaseException:
            for pipe in ours:
                os.close(pipe)
            raise
        finally:
            for pipe in theirs:
                os.close(pipe)
        self.stdin, self.stdout, self.stderr = map(_unbuffered, ours[:3], ("wb", "rb", "rb"))
        self._life, self._status = ours[3], ours[4]
        begun = self._next(_START)
        if begun is None:
            self._close()
            for stream in (self.stdin, self.stdout, self.stderr):
                stream.close()
            raise OSError(server.why_gone() or "the process that forks them does not answer")
        self.pid, self.supervisor = begun["pid"], begun["supervisor"]
        with suppress(OSError):  # they have ended already
            self._handles += [os.pidfd_open(self.pid), os.pidfd_open(self.supervisor)]

    @property
    def returncode(self) -> int | None:
        return self._code

    def ended(self) -> int | None:
        return self._status

    def poll(self) -> int | None:
        if self._code is None and select.select([self._status], [], [], 0)[0]:
            self._finish(0.0)
        return self._code

    def _finish(self, seconds: float) -> None:
        """Take its code from the supervisor; without one, somebody has killed or stopped the supervisor."""
        said = self._next(seconds)
        if said is None:
            for handle in self._handles:  # what they leave comes to the server, which kills it
                with suppress(OSError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            end_all(0, self._marker)
        self._code = -signal.SIGKILL if said is None else said["code"]
        self.left = 0 if said is None else said["left"]
        self._close()

    def _next(self, seconds: float) -> dict[str, int] | None:
        """The next line of the supervisor; None when it is gone or silent for so long."""
        while b"\n" not in self._said:
            if seconds and not select.select([self._status], [], [], seconds)[0]:
                return None
            part = os.read(self._status, 4096)
            if not part:
                return None
            self._said += part
        line, _, self._said = self._said.partition(b"\n")
        said: dict[str, int] = json.loads(line)
        return said

    def send_signal(self, number: int) -> None:
        with suppress(OSError):
            if self._handles:
                signal.pidfd_send_signal(self._handles[0], number)

    def end(self) -> None:
        if self._code is None:
            if self._life >= 0:
                os.close(self._life)
                self._life = -1
            self._finish(_END)

    def _close(self) -> None:
        for pipe in {self._life, self._status, *self._handles} - {-1}:
            os.close(pipe)
        self._life = self._status = -1
        self._handles = []


class _Server:
    """A process that forks children; see `fork_server`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(theirs.fileno()), *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={name: value for name, value in environment.items() if name != MARKER},
                cwd="/",  # it may outlive us by a moment; it holds no folder
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._socket = ours

    def send(self, order: bytes, pipes: list[int]) -> None:
        try:
            socket.send_fds(self._socket, [LENGTH.pack(len(order))], pipes)
            self._socket.sendall(order)
        except OSError as error:
            raise OSError(self.why_gone() or error.strerror) from None

    def why_gone(self) -> str:
        """The last words of a server that has ended."""
        if self.alive():
            return ""
        assert self._process.stderr is not None
        words = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return words[-1] if words else ""

    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._socket.close()
        try:
            self._process.wait(_END)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):  # somebody has stopped it
            self._process.kill()
            self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


class Servers:
    """The servers of this process: one for each set of the variables that count when libraries are loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, _Server] = {}
        self._owner = 0

    def child(self, module: str, environment: Mapping[str, str]) -> Forked:
        with self._lock:
            if self._owner != os.getpid():  # nothing yet, or we are a forked copy of who started them
                self._known, self._owner = {}, os.getpid()
            counted = {name: environment[name] for name in sorted(environment) if name.startswith(_AT_START)}
            key = json.dumps(counted)  # its path does not count: a child is given ours with its order
            if key in self._known:
                try:
                    return Forked(self._known[key], module, environment)
                except OSError:  # a cell may have killed it
                    self._known.pop(key).close()
            server = self._known[key] = _Server(environment)
            return Forked(server, module, environment)

    def close(self) -> None:
        """At the end of this process."""
        if self._owner == os.getpid():
            for server in self._known.values():
                server.close()
            self._known = {}


def _unbuffered(pipe: int, mode: str) -> IO[bytes]:
    return cast("IO[bytes]", os.fdopen(pipe, mode, buffering=0))


def _folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed
        return "/"
