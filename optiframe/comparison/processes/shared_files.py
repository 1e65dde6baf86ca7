"""Shared memory that a process and its descendants have made: its size, and its removal.

Linux only. A file in `/dev/shm`, an anonymous file (memfd) and a segment of System V take memory, whoever
holds them; those with a name stay when their maker is killed. Of files nobody writes down who made them: they
count for those who were seen to hold them open or to map them.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

_SHM = "/dev/shm"
_SEGMENTS = "/proc/sysvipc/shm"
_REMOVE = 0  # IPC_RMID of <sys/ipc.h>
_BLOCK = 512  # bytes: the unit of st_blocks, whatever the file system


class SharedFiles:
    """What the processes that are looked at hold of shared memory and was not there at the beginning."""

    def __init__(self) -> None:
        self._before = _entries().keys()
        self._ours: set[str] = set()
        self._segments_before = _segments().keys()
        self._makers: set[int] = set()

    def look(self, pids: Iterable[int]) -> int:
        """Bytes of all that these processes have been seen to hold, now or before."""
        pids = list(pids)
        self._makers.update(pids)
        new = {name: inode for name, inode in _entries().items() if name not in self._before}
        names = {inode: name for name, inode in new.items()}
        nameless: dict[tuple[int, int], int] = {}
        for pid in pids:
            held = _open_files(pid)
            if new.keys() - self._ours:  # seldom: maps are long, and what is only mapped counts as resident
                held += _mapped_files(pid)
            for path, found in held:
                # A semaphore is mapped before it gets its name, and a folder is not open when its files are.
                name = path.split("/")[3] if path.startswith(f"{_SHM}/") else ""
                name = name if name in new else names.get(found.inode, "") if name else ""
                if name:
                    self._ours.add(name)
                elif found.bytes:
                    nameless[found.device, found.inode] = found.bytes
        self._ours &= new.keys()
        segments = sum(size for _, size in self._made_segments())
        return sum(_size(Path(_SHM, name)) for name in self._ours) + sum(nameless.values()) + segments

    def remove(self) -> None:
        """Remove what would outlive its makers."""
        for name in self._ours:
            path = Path(_SHM, name)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()
        self._ours = set()
        for number, _ in self._made_segments():
            _libc().shmctl(number, _REMOVE, None)

    def _made_segments(self) -> list[tuple[int, int]]:
        """Number and bytes of each segment of System V that one of these processes has made."""
        return [
            (number, size)
            for number, (maker, size) in _segments().items()
            if maker in self._makers and number not in self._segments_before
        ]


class _Held(NamedTuple):
    """A file that a process holds; of one that it has only mapped, `bytes` is 0."""

    device: int
    inode: int
    bytes: int


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _entries() -> dict[str, int]:
    """What lies in `/dev/shm`: names with their numbers (inodes)."""
    with suppress(OSError), os.scandir(_SHM) as found:
        return {entry.name: entry.inode() for entry in found}
    return {}


def _segments() -> dict[int, tuple[int, int]]:
    """Segments of System V: number, and the process that made it with the bytes that it takes."""
    found = {}
    with suppress(OSError), open(_SEGMENTS, encoding="ascii") as file:
        for line in file.readlines()[1:]:  # key shmid perms size cpid lpid nattch uid gid ... rss swap
            values = [int(value) for value in line.split()]
            found[values[1]] = values[4], values[-2] + values[-1]
    return found


def _open_files(pid: int) -> list[tuple[str, _Held]]:
    """Open files of a process that are memory, with what their paths were."""
    found = []
    with suppress(OSError):  # gone, or another user's
        for number in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                path = os.readlink(place := f"/proc/{pid}/fd/{number}")
                if path.startswith((f"{_SHM}/", "/memfd:")):
                    status = os.stat(place)
                    found.append((path, _Held(status.st_dev, status.st_ino, status.st_blocks * _BLOCK)))
    return found


def _mapped_files(pid: int) -> list[tuple[str, _Held]]:
    """Files in `/dev/shm` that a process has mapped."""
    found = []
    with (
        suppress(OSError),
        open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps,
    ):
        for line in maps:  # address perms offset device inode path
            if f" {_SHM}/" in line:
                path = line.rstrip("\n")[line.index("/") :]
                found.append((path, _Held(0, int(line.split(maxsplit=5)[4]), 0)))
    return found


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
