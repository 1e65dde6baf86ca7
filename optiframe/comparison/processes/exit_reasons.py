"""How a child process ended, as far as those who outlived it can tell."""

from __future__ import annotations

import errno
import os
import signal
import stat
from contextlib import suppress
from pathlib import Path

from optiframe.comparison.records import Outcome
from optiframe.solving.result import Status

_PART = 1024 * 1024  # bytes read at once
_STACKS = 64 * 1024  # bytes read of the stacks of a process: many threads


def died(code: int, memory_kill: bool, errors: bytes, where: str) -> Outcome:
    """The outcome of a process that left none.

    Parameters
    ----------
    code
        Its exit code; of a signal, negative.
    memory_kill
        Whether the machine has killed anything for want of memory in the meantime.
    errors
        The end of what it wrote to standard error.
    where
        Its stage, in words.
    """
    end = f"the process {in_words(code)}{where}"
    if code == 0:
        return Outcome(Status.CRASHED, f"{end}, without an answer")
    if code == -signal.SIGKILL and memory_kill:
        return Outcome(Status.OUT_OF_MEMORY, f"{end}: the machine's memory ran out")
    if b"bad_alloc" in errors and code == -signal.SIGABRT:
        return Outcome(Status.OUT_OF_MEMORY, f"{end}: an allocation in C++ code failed (std::bad_alloc)")
    hint = "; it was killed from outside the comparison" if code == -signal.SIGKILL else ""
    return Outcome(Status.CRASHED, end + hint)


def in_words(code: int) -> str:
    """An exit code, or the signal a process died of."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        number = signal.Signals(-code)
    except ValueError:
        return f"died of signal {-code}"
    return f"died: {(signal.strsignal(number) or 'signal').lower()} ({number.name})"


def stacks(path: Path) -> str:
    """What faulthandler wrote when the process died or came to its limit."""
    try:
        return read_regular(path, _STACKS).decode(errors="replace")
    except OSError:
        return ""


def read_regular(path: Path, most: int) -> bytes:
    """The first bytes of a regular file; what else a process may have put in its place is refused.

    A pipe would be waited for and a device has no end. Raises `OSError`.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(file, "rb", buffering=0) as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        parts, left = [], most
        while left and (part := stream.read(min(left, _PART))):
            parts.append(part)
            left -= len(part)
    return b"".join(parts)


def memory_kills() -> int:
    """How many processes this machine has killed for want of memory; 0 where it does not tell."""
    with suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


class Tail:
    """The end of a stream of bytes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.data = b""
        self._cut = False

    def add(self, data: bytes) -> None:
        """Keep the end of what was kept and of what has come."""
        kept = self.data + data[-self._size :]
        self._cut = self._cut or len(self.data) + len(data) > self._size
        self.data = kept[-self._size :]

    def text(self, title: str = "") -> str:
        """As text; broken characters are replaced, and what was cut off is marked."""
        if not self.data:
            return ""
        cut = f"[the last {self._size // 1024} kB]\n" if self._cut else ""
        return title + cut + self.data.decode(errors="replace")
