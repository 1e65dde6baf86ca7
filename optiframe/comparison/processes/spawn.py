"""Starting a child process with pinned threads: fresh, in a session of its own, ended with all it started."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import IO, Protocol, cast

from optiframe.comparison.processes.forked import Servers
from optiframe.comparison.processes.reaper import MARKER, end_all
from optiframe.errors import OptiframeError

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
# A spawned child waits for what it is asked before anything else: that is written when the reaper knows
# of it, so a child whose parent dies before that ends at once instead of after its imports.
# Its path is ours: -m would begin it with the current folder, whatever lies there.
_RUN = (
    "import sys; sys.stdin.buffer.peek(1) or sys.exit(1); sys.path[:] = sys.argv[2:]; "
    "from importlib import import_module as i; i(sys.argv[1]).main()"
)


class Child(Protocol):
    """A child process; its pipes are unbuffered."""

    pid: int
    supervisor: int  # whose children, and theirs, are all that it has started
    group: int  # for the reaper to kill; 0 where a supervisor does that by itself
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    left: int  # processes that it left running when it ended, where that is known

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative: the signal it died of."""
        ...

    def ended(self) -> int | None:
        """A descriptor that becomes readable when it ends; None where the system has none."""
        ...

    def poll(self) -> int | None:
        """`returncode`, looked at now."""
        ...

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        ...

    def end(self) -> None:
        """Kill it and everything it started, and wait until they are gone."""
        ...


def start_child(module: str, threads: int, marker: str) -> Child:
    """Run `module.main()` in a fresh process with our environment, folder and ``sys.path``.

    Where the system can (Linux), it is forked from a server that has imported what all need, and watched
    by a supervisor; elsewhere a new interpreter is started.

    Parameters
    ----------
    module
        Whose `main` reads from standard input what it is asked.
    threads
        Of linear algebra and compiled loops, by the variables libraries read when they load.
    marker
        What the reaper knows it and everything it starts by; see `reaper.MARKER`.

    Raises
    ------
    OptiframeError
        Where the system cannot start a process.
    """
    outer = os.environ.get(MARKER)
    environment = {
        **os.environ,
        **dict.fromkeys(_THREADS, str(threads)),
        "PYTHONHASHSEED": "0",  # the order of a set of names must not decide an answer
        MARKER: f"{outer}:{marker}" if outer else marker,  # a comparison inside a cell ends with the cell
    }
    try:
        if sys.platform == "linux" and hasattr(os, "pidfd_open"):
            return _servers.child(module, environment)
        return _Spawned(module, environment, marker)
    except OSError as error:
        raise OptiframeError(f"cannot start a child process: {error.strerror or error}") from error


class _Spawned:
    """A new interpreter, for systems on which a process with loaded libraries cannot be forked."""

    left = 0

    def __init__(self, module: str, environment: Mapping[str, str], marker: str) -> None:
        self._marker = marker
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUN, module, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self.stdin, self.stdout, self.stderr = cast("tuple[IO[bytes], IO[bytes], IO[bytes]]", pipes)
        self.pid = self.supervisor = self.group = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def ended(self) -> int | None:
        return None

    def poll(self) -> int | None:
        return self._process.poll()

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> None:
        # Once it has been waited for, its number may be another's; what it left is known by the marker.
        end_all(0 if self._process.returncode is not None else self.pid, self._marker)
        self._process.wait()


_servers = Servers()
atexit.register(_servers.close)
