"""Starts child processes for another process, and ends them when that one ends, however it does.

Run as ``python -m optiframe_comrade.backends.flower.supervisor FOLDER`` with pipes for standard input and
output. Each line in is a JSON table ``{"argv": [...], "log": "..."}`` and starts a process in a
session of its own; the line out is its id. When the input ends - closed, or its owner killed -
every session is killed, and on Linux also whatever has left its session, and the folder is removed. Needs
nothing outside the standard library, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def supervise(folder: str) -> None:
    """Serve standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, who then closes the input
    # The parent of descendants whose own has ended: a SuperLink's executor leaves its session.
    _control(_SUBREAPER, 1)
    children: list[subprocess.Popen[bytes]] = []
    try:
        for line in sys.stdin:
            order = json.loads(line)
            with open(order["log"], "ab") as log:
                child = subprocess.Popen(
                    order["argv"],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_die_with_parent,  # noqa: PLW1509 - this process has one thread
                )
            children.append(child)
            print(child.pid, flush=True)
    finally:
        for child in children:
            # A session outlives its leader: what a killed node has started is in it too.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
        _end_adopted()
        shutil.rmtree(folder, ignore_errors=True)


def _die_with_parent() -> None:
    """In a child: be killed with the supervisor, should somebody kill that."""
    _control(_DEATH_SIGNAL, signal.SIGKILL)


def _control(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_adopted() -> None:
    """Kill children until there are none: a killed one leaves its own behind."""
    while True:
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    """Living children, by the list of all processes; none where there is no such list."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.append(int(stat.parent.name))
    return found


if __name__ == "__main__":
    supervise(sys.argv[1])
