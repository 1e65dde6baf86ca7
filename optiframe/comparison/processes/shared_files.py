"""Files in shared memory that a process and its descendants have made: their size, and their removal.

Linux only. A file in `/dev/shm` takes memory, whoever holds it, and stays when its maker is killed. Nobody
writes down who made it: it counts for those who were seen to hold it open or to map it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_SHM = "/dev/shm"
_BLOCK = 512  # bytes: the unit of st_blocks, whatever the file system


class SharedFiles:
    """What the processes that are looked at hold in `/dev/shm` and was not there at the beginning."""

    def __init__(self) -> None:
        self._before = _entries()
        self._ours: set[str] = set()

    def look(self, pids: Iterable[int]) -> int:
        """Bytes of all files that these processes have been seen to hold, now or before."""
        new = _entries() - self._before
        if new - self._ours:  # seldom: nothing is read of the processes while there is nothing new
            for pid in pids:
                self._ours |= _held_by(pid) & new
        self._ours &= new
        return sum(_size(Path(_SHM, name)) for name in self._ours)

    def remove(self) -> None:
        """Remove these files."""
        for name in self._ours:
            path = Path(_SHM, name)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()
        self._ours = set()


def _entries() -> set[str]:
    with suppress(OSError):
        return set(os.listdir(_SHM))
    return set()


def _held_by(pid: int) -> set[str]:
    """Names in `/dev/shm` of what a process has open or mapped."""
    paths = []
    with suppress(OSError):  # gone, or another user's
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                paths.append(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths += [line.rstrip("\n")[line.index("/") :] for line in maps if f" {_SHM}/" in line]
    return {path.split("/")[3] for path in paths if path.startswith(f"{_SHM}/")}


def _size(path: Path) -> int:
    """Bytes that a file, or all in a folder, takes of the memory."""
    total = 0
    with suppress(OSError):
        total = path.lstat().st_blocks * _BLOCK
        if path.is_dir() and not path.is_symlink():
            for folder, _, names in os.walk(path):
                for name in names:
                    with suppress(OSError):
                        total += os.lstat(os.path.join(folder, name)).st_blocks * _BLOCK
    return total
