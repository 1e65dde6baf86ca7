"""How much memory a process and everything it started hold, and a limit on it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from optiframe.comparison.processes.shared_files import SharedFiles
from optiframe.errors import require

_SHARE = 50  # a look at the tree may take one part in this many of the time, so that it disturbs little
_STATUS = re.compile(r"^(VmHWM|VmRSS|VmData|RssShmem):\s+(\d+) kB", re.MULTILINE)


class TreeMemory:
    """Resident bytes of a process and its descendants, looked at again and again.

    A process alone counts by its resident memory. With descendants, memory that they share
    (what a fork has not changed) counts once, where the system tells (Linux). A process once seen
    goes on counting when its parent has ended, and so do their files in shared memory. `supervisor` is the
    process whose descendants are what the process `pid` has started, abandoned or not: its supervisor,
    or itself.
    """

    def __init__(self, pid: int, supervisor: int) -> None:
        self._psutil = require("psutil", "compare")
        self._root: Any = None
        self._supervisor: Any = None
        with suppress(self._psutil.Error):
            self._root = self._psutil.Process(pid)
            self._supervisor = self._psutil.Process(supervisor)
        self._others: set[Any] = set()
        self._next_look = 0.0
        self._pid = pid
        self._shared = SharedFiles()
        self.peak = 0

    def sample(self) -> int:
        """Bytes now; 0 when everything has ended."""
        if self._supervisor is None:
            return 0
        began = perf_counter()
        if began >= self._next_look:
            # Finding descendants reads about every process there is.
            with suppress(self._psutil.Error):
                self._others.update(self._supervisor.children(recursive=True))
            self._others = {one for one in self._others if one != self._root and one.is_running()}
        elif self._others:  # looking at the whole tree costs too much to do it as often
            files, _ = self._files()
            self.peak = max(self.peak, files)
            return files
        if self._others:
            now = sum(self._shared_once(process) for process in (self._root, *self._others))
            highest = now
        else:
            values = memory_of(self._pid)
            now = values.get("VmRSS") or self._resident(self._root)
            highest = max(now, values.get("VmHWM", 0))
        files, mapped = self._files()
        now += max(0, files - mapped)
        highest = max(highest, now)
        if began >= self._next_look:
            ended = perf_counter()
            self._next_look = ended + _SHARE * (ended - began)
        self.peak = max(self.peak, highest)
        return now

    def _files(self) -> tuple[int, int]:
        """Bytes of their files in shared memory, and how much shared memory is counted as resident."""
        pids = [self._pid, *(process.pid for process in self._others)]
        files = self._shared.look(pids)
        return files, sum(memory_of(pid).get("RssShmem", 0) for pid in pids) if files else 0

    def close(self) -> None:
        """Remove what they have left in shared memory; they have ended."""
        self._shared.remove()

    def _shared_once(self, process: Any) -> int:
        with suppress(self._psutil.Error):
            full = process.memory_full_info()
            # uss: on systems without shares, what is the process's own.
            return int(getattr(full, "pss", 0) or getattr(full, "uss", 0) or full.rss)
        return self._resident(process)

    def _resident(self, process: Any) -> int:
        with suppress(self._psutil.Error):
            return int(process.memory_info().rss)
        return 0


def memory_of(pid: int | str) -> dict[str, int]:
    """What Linux says of a process, in bytes: VmHWM (highest resident), VmRSS, VmData, RssShmem; else empty.

    Not `ru_maxrss`: a new process begins with the peak of the one that started it.
    """
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return {name: int(size) * 1024 for name, size in _STATUS.findall(text)}


def peak_of_this_process() -> float:
    """Highest resident bytes of this process so far; nan where the system does not tell."""
    return float(memory_of("self").get("VmHWM", float("nan")))


def refuse_more_than(limit: int) -> None:
    """Make an allocation that would pass the limit a `MemoryError` in this process, at once.

    The system can bound what is asked for, not what is resident; what has been asked for up to
    now, mostly the pools of libraries, is added to the limit.
    """
    import resource

    asked = memory_of("self").get("VmData")
    if asked is None:
        return  # only Linux counts private memory under this limit; elsewhere the parent watches alone
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = limit + asked
    if hard == resource.RLIM_INFINITY or bound < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
