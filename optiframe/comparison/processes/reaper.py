"""Kills what is left of the running cells when the main process dies, however it dies.

Run as a script, in a session of its own: ``python -I -S reaper.py``. It is told on standard
input which processes run (``+ group marker folder``) and which have ended (``- marker``). At the
end of the input, or of the process that started it, it kills what is still listed and ends.
Standard library only: it starts in a few hundredths of a second and then sleeps.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

MARKER = "OPTIFRAME_CELL"
"""Environment variable by which everything a cell starts is known, whatever session it is in."""

_ROUNDS = 20  # a process that starts others while it is killed is met again; a fork bomb has an end
_READ = 65536  # bytes read at once: what a pipe holds
_TURN = 0.25  # seconds between two looks at the parent, where the system cannot tell of its end


def end_all(group: int, marker: str) -> int:
    """Kill a process group, then every process whose environment carries the marker.

    Gives the number of processes found outside the group. The group's leader must not have been
    waited for yet, so that its number cannot belong to somebody else; 0 stands for no group.
    """
    if group > 0:
        with suppress(ProcessLookupError, PermissionError):  # all gone; macOS says the latter of zombies
            os.killpg(group, signal.SIGKILL)
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        found = [pid for pid in _marked(marker) if pid != group]
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not set(found) - killed:  # nobody new; those killed may take a moment to vanish
            break
        killed.update(found)
    return len(killed)


def _marked(marker: str) -> list[int]:
    """Living processes whose environment carries the marker."""
    if not os.path.isdir("/proc/self"):
        return _marked_by_psutil(marker)
    wanted = marker.encode()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            # Gone, or not ours; the environment of a zombie reads as empty.
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read():
                    found.append(int(name))
    return found


def _marked_by_psutil(marker: str) -> list[int]:
    try:
        import psutil
    except ImportError:  # in the reaper itself, which runs without installed packages
        return []
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if marker in process.environ().get(MARKER, "") and process.pid != os.getpid():
                found.append(process.pid)
    return found


def main() -> None:
    """Listen until the parent is gone, then kill and tidy up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a whole terminal may be told to end; our parent decides
    parent = int(sys.argv[1])
    listed: dict[str, tuple[int, str]] = {}
    rest = b""
    watched: list[int] = [0]
    if hasattr(os, "pidfd_open"):
        # A forked copy of the parent may hold our input open after the parent's death.
        with suppress(OSError):
            watched.append(os.pidfd_open(parent))
    while os.getppid() == parent:
        ready, _, _ = select.select(watched, [], [], None if len(watched) > 1 else _TURN)
        if 0 in ready:
            data = os.read(0, _READ)
            if not data:
                break
            rest = _heard(listed, rest + data)
        elif ready:
            break
    # What the parent said last may still wait here: it may have died before this loop first ran.
    os.set_blocking(0, False)
    with suppress(BlockingIOError):  # a forked copy of the parent holds our input open
        while data := os.read(0, _READ):
            rest = _heard(listed, rest + data)
    for marker, (group, folder) in listed.items():
        end_all(group, marker)
        if Path(folder).name.startswith("optiframe-"):
            shutil.rmtree(folder, ignore_errors=True)


def _heard(listed: dict[str, tuple[int, str]], said: bytes) -> bytes:
    """Take note of every whole line; gives what is left."""
    *lines, rest = said.split(b"\n")
    for line in lines:
        _note(listed, os.fsdecode(line))
    return rest


def _note(listed: dict[str, tuple[int, str]], line: str) -> None:
    what, _, told = line.partition(" ")
    if what == "+":
        group, marker, folder = told.split(" ", maxsplit=2)
        listed[marker] = (int(group), folder)
    else:
        listed.pop(told, None)


if __name__ == "__main__":
    main()
