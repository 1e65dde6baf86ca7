"""The pipes of a child process, read and written without waiting for it."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from optiframe.comparison.processes.spawn import Child

_PIECE = 1024 * 1024  # bytes read or written at once, so that a flood of output costs little


class Pipes:
    """What a child says and is told, between two looks at it.

    Parameters
    ----------
    child
        Just started.
    output, errors
        Given each piece of its standard output and of its standard error, as it comes.
    """

    def __init__(
        self, child: Child, output: Callable[[bytes], None], errors: Callable[[bytes], None]
    ) -> None:
        self._child = child
        self._left: list[memoryview] = []  # to be written
        self._close_input = False
        self._selector = selectors.DefaultSelector()
        for pipe, take in ((child.stdout, output), (child.stderr, errors)):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, take)
        os.set_blocking(child.stdin.fileno(), False)

    @property
    def writing(self) -> bool:
        """Whether something is left to be written."""
        return bool(self._left)

    def write(self, parts: Iterable[memoryview], *, close: bool) -> None:
        """Begin to write these parts to its standard input, to be closed after the last or not."""
        if not self._left:
            self._selector.register(self._child.stdin, selectors.EVENT_WRITE)
        self._left, self._close_input = list(parts), close

    def wake(self, descriptor: int) -> None:
        """End a turn early when this descriptor becomes readable, too."""
        self._selector.register(descriptor, selectors.EVENT_READ)

    def turn(self, seconds: float) -> bool:
        """Read and write what can be, after at most so many seconds; whether it has said anything."""
        came = False
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.data is not None:
                came = self._read(key) or came
            elif key.fileobj is self._child.stdin:
                self._write()
        return came

    def drain(self) -> None:
        """Read what it has said before it ended; never waits for a survivor that holds a pipe open."""
        for key in tuple(self._selector.get_map().values()):
            while key.data is not None and self._read(key):
                pass

    def close(self) -> None:
        """Close all three; what was not written is lost."""
        self._selector.close()
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            with suppress(OSError):
                pipe.close()

    def _read(self, key: Any) -> bool:
        try:
            data = os.read(key.fd, _PIECE)
        except BlockingIOError:
            return False
        if data:
            key.data(data)
        else:  # it closed this stream; it may still run
            self._selector.unregister(key.fileobj)
        return bool(data)

    def _write(self) -> None:
        pipe, left = self._child.stdin, self._left
        try:
            left[0] = left[0][os.write(pipe.fileno(), left[0][:_PIECE]) :]
            if not left[0]:
                left.pop(0)
        except BlockingIOError:
            return
        except OSError:  # it ended, or closed its input
            left.clear()
        if not left:
            self._selector.unregister(pipe)
            if self._close_input:
                pipe.close()
