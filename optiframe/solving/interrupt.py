"""Ctrl-C as a request: the first ends a run in good order, the second raises."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def first_interrupt() -> Iterator[threading.Event]:
    """An event set by the first Ctrl-C; the second raises `KeyboardInterrupt`.

    Only the main thread can listen, and a process told to ignore Ctrl-C goes on ignoring it.
    """
    stop = threading.Event()
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_interrupt(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        # os.write: a signal may arrive while sys.stderr is in the middle of writing.
        os.write(2, b"\nstopping after this iterate; Ctrl-C again stops at once\n")

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        # None: the handler was not installed from Python and cannot be put back by it.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
