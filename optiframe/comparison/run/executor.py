"""Where cells run: what an executor is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from optiframe.comparison.cells import Request
from optiframe.comparison.records import Outcome

if TYPE_CHECKING:
    from optiframe.comparison.run.isolation import Progress

Tell = Callable[["Progress"], None]
"""Told where a running cell is, from any thread; must cost next to nothing."""


class Executor(Protocol):
    """Runs requests, several at once, each in a child process of its own.

    One lives as long as one run of a plan; `run` may be called several times, one after the
    other. All of it is called from the main thread.
    """

    def run(self, requests: Iterator[Request], tell: Tell | None = None) -> Iterator[tuple[Request, Outcome]]:
        """Each outcome as it comes, in any order.

        A request is drawn only when it can start at once, since drawing it claims its cell. That
        `requests` is empty may pass: another process may give up a cell. So it is asked again
        after each outcome, and `run` ends when it is empty while nothing runs. An outcome with
        the status `cancelled` leaves its cell unfinished.
        """

    def close(self) -> None:
        """End what still runs, and give everything back."""
