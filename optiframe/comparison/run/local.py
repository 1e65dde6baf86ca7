"""Cells in child processes of this machine, several at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from functools import partial

from optiframe.comparison.cells import Request
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.executor import Tell
from optiframe.comparison.run.isolation import run_isolated
from optiframe.comparison.run.judging import Judges

Runner = Callable[..., Outcome]
_Ended = queue.SimpleQueue[tuple[Request, Outcome | BaseException]]


class LocalExecutor:
    """A thread for each cell that runs; it starts the child, watches it, and ends with it.

    Parameters
    ----------
    workers
        Cells at once.
    cells
        How many cells there are: no more threads than that.
    runner
        What runs one request; by default `run_isolated`.
    """

    def __init__(self, workers: int, cells: int, runner: Runner | None = None) -> None:
        self.workers = max(1, min(workers, cells))
        self._judges = Judges(keep=self.workers)
        self._runner = runner or partial(run_isolated, judges=self._judges)
        self._stop = threading.Event()
        self._threads: set[threading.Thread] = set()
        self._ended: _Ended = queue.SimpleQueue()

    def run(self, requests: Iterator[Request], tell: Tell | None = None) -> Iterator[tuple[Request, Outcome]]:
        """See `Executor.run`."""
        running, self._ended = 0, queue.SimpleQueue()
        try:
            while True:
                while running < self.workers and (request := next(requests, None)) is not None:
                    self._start(request, tell)
                    running += 1
                if not running:
                    return
                request, outcome = self._ended.get()
                running -= 1
                if isinstance(outcome, BaseException):
                    raise outcome
                yield request, outcome
        finally:
            self.close()

    def _start(self, request: Request, tell: Tell | None) -> None:
        # Daemons: a second Ctrl-C leaves at once, and the reaper ends the children.
        thread = threading.Thread(
            target=self._one,
            args=(request, tell, self._stop, self._ended),
            name=f"cell {request.key[:8]}",
            daemon=True,
        )
        self._threads.add(thread)
        thread.start()

    def _one(self, request: Request, tell: Tell | None, stop: threading.Event, ended: _Ended) -> None:
        try:
            outcome: Outcome | BaseException = self._runner(request, tell, stop)
        except BaseException as error:  # ours, not the solver's: the main thread shall raise it
            outcome = error
        self._threads.discard(threading.current_thread())
        ended.put((request, outcome))

    def close(self) -> None:
        """Kill the children that still run."""
        self._stop.set()
        for thread in tuple(self._threads):
            thread.join()
        self._judges.close()
        self._stop = threading.Event()
