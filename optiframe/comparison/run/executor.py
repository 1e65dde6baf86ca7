"""Where cells run: what an executor is, and choosing the one a plan names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from optiframe.comparison.environment import usable_cores
from optiframe.comparison.records import ExecutorChoice, Limits, Outcome, Request

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


def workers_of(choice: ExecutorChoice, limits: Limits) -> int | None:
    """How many cells run at once: as said, or as many as this machine's cores have threads for.

    None for a cluster somewhere else that is to take as many as it has room for.
    """
    if choice.workers is not None or choice.address is not None:
        return choice.workers
    return max(1, usable_cores() // limits.threads)


def executor_for(choice: ExecutorChoice, cells: int, limits: Limits) -> Executor:
    """The executor a plan names, for at most this many cells at once, each within the limits.

    Raises
    ------
    MissingPackage, InvalidInput
        When it cannot be had.
    """
    workers = workers_of(choice, limits)
    if choice.name == "dask":
        from optiframe.comparison.run.dask import DaskExecutor

        return DaskExecutor(choice.address, workers)
    from optiframe.comparison.run.local import LocalExecutor

    return LocalExecutor(workers or 1, cells)
