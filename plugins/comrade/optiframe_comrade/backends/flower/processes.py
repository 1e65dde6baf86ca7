"""Child processes with their logs in one folder: none outlives this process, and the folder goes with them.

A supervisor (`supervisor`) starts them, ends them and removes the folder when this process closes it or
ends, however it does. If both are killed, the children die with the supervisor, and whoever starts the next
federation removes the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from optiframe.errors import remedy
from optiframe_comrade.protocol.workers import WorkersLost

_PREFIX = "comrade-flower-"
_LOCK = "in-use"  # locked as long as this process or the supervisor lives
_YOUNG = 60.0  # seconds for which a folder is left alone: its lock may not be taken yet
_QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    # How often a node looks whether there is a message to compute with; 1 s by default.
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class FederationFailed(WorkersLost):
    """Flower did not do what was asked: a process ended, a run did not start."""


def environment(home: Path) -> dict[str, str]:
    """Variables for Flower's commands: no telemetry, no update check, its files in `home`."""
    bin = str(Path(sys.executable).parent)  # not resolved: a virtual environment's own
    path = os.pathsep.join([bin, os.environ.get("PATH", "")])
    return {**os.environ, **_QUIET, "FLWR_HOME": str(home), "PATH": path}


def command(name: str, variables: Mapping[str, str]) -> str:
    """The path of a program.

    Raises
    ------
    FederationFailed
        When it is not installed.
    """
    found = shutil.which(name, path=variables["PATH"])
    if found is None:
        raise FederationFailed(f"no command {name!r} here; run: {remedy(['flwr'], extra='flower')}")
    return found


class Processes:
    """Processes that run until `close`, or until this process ends.

    Attributes
    ----------
    folder
        Theirs: logs, Flower's own files, and what the caller puts there; removed with them.
    pids
        By name.
    """

    def __init__(self) -> None:
        remove_leftovers()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.environment = environment(self.folder)
        self.pids: dict[str, int] = {}
        self._lock = os.open(self.folder / _LOCK, os.O_CREAT | os.O_RDWR)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.supervisor = subprocess.Popen(
            [sys.executable, "-m", "optiframe_comrade.backends.flower.supervisor", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
            pass_fds=[self._lock],
            start_new_session=True,  # a Ctrl-C in the terminal is for this process alone
        )

    def run(self, name: str, argv: Sequence[str]) -> None:
        """Start a process; what it says goes to `log(name)`.

        Raises
        ------
        FederationFailed
            When there is no such program.
        """
        assert self.supervisor.stdin is not None
        assert self.supervisor.stdout is not None
        order = {"argv": [command(argv[0], self.environment), *argv[1:]], "log": str(self._log(name))}
        self.supervisor.stdin.write(json.dumps(order) + "\n")
        self.supervisor.stdin.flush()
        self.pids[name] = int(self.supervisor.stdout.readline())

    def wait(self, name: str, ready: Callable[[], object], ends: float) -> None:
        """Wait for a process to be ready, until the monotonic clock is at `ends`.

        Raises
        ------
        FederationFailed
            When it ends before, or the time is over; with the end of its log.
        """
        while not ready():
            if time.monotonic() > ends or not _lives(self.pids[name]):
                said = self.log(name)[-2000:]
                raise FederationFailed(f"Flower's {name} did not start; its log ends:\n{said}")
            time.sleep(0.1)

    def log(self, name: str) -> str:
        """What a process has said so far."""
        path = self._log(name)
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def _log(self, name: str) -> Path:
        return self.folder / f"{name.replace(' ', '-')}.log"

    def close(self) -> None:
        """End all processes and remove their files; may be called twice."""
        if self._lock < 0:
            return
        assert self.supervisor.stdin is not None
        assert self.supervisor.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.supervisor.stdin.close()  # the supervisor's sign to kill its children
        self.supervisor.wait()
        self.supervisor.stdout.close()
        os.close(self._lock)
        self._lock = -1
        shutil.rmtree(self.folder, ignore_errors=True)  # where the supervisor was killed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def remove_leftovers(young: float = _YOUNG) -> None:
    """Remove folders of this user whose process and supervisor were both killed, unless they are new."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), lock.open("rb") as file:
            known = os.fstat(file.fileno())
            if known.st_uid != os.getuid() or time.time() - known.st_mtime < young:
                continue
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error where somebody holds it
            shutil.rmtree(lock.parent, ignore_errors=True)


def _lives(pid: int) -> bool:
    # A child of the supervisor that has ended stays a zombie until the supervisor ends: ask what it is.
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc").exists()  # elsewhere than on Linux: only the time limit tells
