"""Who stands between a cell and the rest of the machine: it ends the cell and everything the cell started.

Linux only. The supervisor is a child subreaper: whatever the cell starts and abandons, in whatever session
and with whatever environment, becomes the supervisor's child, and is killed when the cell ends. Nothing
of the cell's code runs in it. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import NoReturn

CELL = "optiframe cell"  # at most 15 letters: what `ps -e` and `top` call the processes
_SUPERVISOR = "optiframe super"
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 5.0  # seconds for what was killed to vanish: a system call may have to end first
_TURN = 0.002  # seconds between two looks at what was killed


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent ends."""
    if _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def name_process(name: str) -> None:
    """Give this process a name to be found by."""
    _libc().prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def supervise(life: int, status: int, pipes: Sequence[int], cell: Callable[[], NoReturn]) -> NoReturn:
    """Run `cell` in a forked child until it ends or `life` is closed; then kill all there is left of it.

    Parameters
    ----------
    life
        Reading end of a pipe whose writing end the watching process holds: its end is the order to kill.
    status
        Writing end of a pipe for the watching process: a line of JSON with ``pid`` and ``supervisor`` (ours)
        when the cell has begun, and one with ``code`` (negative: a signal) and ``left``, the processes that
        it left running.
    pipes
        What only the cell is to hold open.
    cell
        What the cell does; it does not return.
    """
    adopt_orphans()
    name_process(_SUPERVISOR)
    pid = os.fork()
    if pid == 0:
        os.close(life)
        os.close(status)
        os.setsid()
        name_process(CELL)
        cell()
    for pipe in pipes:
        os.close(pipe)
    _say(status, pid=pid, supervisor=os.getpid())
    ended = os.pidfd_open(pid)
    try:
        if life in select.select([ended, life], [], [])[0]:
            os.kill(pid, signal.SIGKILL)
    finally:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        _say(status, code=code, left=end_children())
        os._exit(0)


def end_children() -> int:
    """Kill every child of this process, and theirs as they come to it; how many there were."""
    killed: set[int] = set()
    give_up = time.monotonic() + _PATIENCE
    while time.monotonic() < give_up:
        for pid in children():
            killed.add(pid)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(_TURN)
        except ChildProcessError:
            break
    return len(killed)


def children() -> list[int]:
    """Processes whose parent this one is, the dead that nobody has waited for among them."""
    with suppress(OSError), open("/proc/thread-self/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]
    found = []
    for name in os.listdir("/proc"):  # a kernel without that file
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
                    found.append(int(name))
    return found


def _say(status: int, **event: int) -> None:
    with suppress(OSError):  # the watching process is gone
        os.write(status, json.dumps(event).encode() + b"\n")
