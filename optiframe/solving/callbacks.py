"""A library that reports through a callback, turned into a generator of iterates.

The library runs in a thread of its own, in lock-step with the consumer: exactly one of
the two is running at any time, so arrays the library reuses stay valid while they are
looked at, and no iterate is lost.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from typing import TypeAlias

from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates

Emit: TypeAlias = Callable[[Iterate], None]
"""What the library's callback calls with each iterate; returns when the consumer wants the next."""

Ending: TypeAlias = tuple[Status, str] | None
"""What a generator of iterates may return."""

JOIN_SECONDS = 5.0
"""How long a library that has been told to stop may take before a warning names it: long
enough for one callback-free stretch of ordinary work, short enough to notice a hang."""


class _Unwind(BaseException):
    """Raised inside the callback to leave the library; not an `Exception`, so that its
    own error handling lets it pass."""


class _Ended:
    """The last message of the library's thread: what it returned or raised."""

    __slots__ = ("error", "value")

    def __init__(self, value: Ending = None, error: BaseException | None = None) -> None:
        self.value = value
        self.error = error


def iterates_from_callback(work: Callable[[Emit], Ending], *, name: str | None = None) -> Iterates:
    """Run a library that has a callback as a generator of its iterates.

    Costs two switches between threads for each callback (tens of microseconds). Context
    variables, NumPy's error state among them, are those of the first `next`.

    Parameters
    ----------
    work
        Runs the library and calls ``emit(iterate)`` from its callback. What it returns
        (None, or a status and a message) is what the generator returns.
    name
        What to call the library in a warning; by default where `work` is defined.

    Yields
    ------
    Iterate
        Each emitted iterate, in order. `emit` comes back when the generator is resumed.

    Raises
    ------
    Exception
        Whatever the library raises, with the library's own traceback.

    Warns
    -----
    RuntimeWarning
        When the generator is closed and the library does not end within 5 seconds.

    Examples
    --------
    ::

        def iterates(self, problem, run):
            def work(emit):
                library.minimize(problem.function.value, callback=lambda x: emit(Iterate(x)))

            return iterates_from_callback(work, name="library.minimize")
    """
    messages: SimpleQueue[Iterate | _Ended] = SimpleQueue()
    resume: SimpleQueue[None] = SimpleQueue()
    closed = threading.Event()

    def emit(iterate: Iterate) -> None:
        if not closed.is_set():
            messages.put(iterate)
            resume.get()
        if closed.is_set():
            raise _Unwind

    def target() -> None:
        try:
            ended = _Ended(value=work(emit))
        except BaseException as error:  # all of it belongs to the caller, SystemExit too
            ended = _Ended(error=error)
        messages.put(ended)

    title = name or f"{work.__module__}.{work.__qualname__}"
    thread = threading.Thread(
        target=copy_context().run, args=(target,), name=f"optiframe callback: {title}", daemon=True
    )
    thread.start()
    try:
        while True:
            message = messages.get()
            if isinstance(message, _Ended):
                if message.error is not None:
                    raise message.error
                return message.value
            yield message
            resume.put(None)
    finally:
        closed.set()
        resume.put(None)
        thread.join(JOIN_SECONDS)
        if thread.is_alive():
            warnings.warn(
                f"{title} was told to stop and has not ended after {JOIN_SECONDS:g} s; its thread "
                f"{thread.name!r} runs on until this process ends",
                RuntimeWarning,
                stacklevel=2,
            )
