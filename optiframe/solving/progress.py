"""Where a run is, for whoever watches: a progress bar that appears only when a run lasts."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from optiframe.notebook import Bar, in_notebook
from optiframe.numbers import number
from optiframe.solving.budget import Budget

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_DELAY = 1.0  # seconds before the bar appears
_INTERVAL = 0.1  # seconds between updates


class Watch(Protocol):
    """Told after each iterate where a run is; called often, so it must cost next to nothing."""

    def update(self, iterations: int, elapsed: float, residual: float) -> None:
        """Take note of iterations so far, seconds inside the solver, and the residual."""

    def close(self) -> None:
        """The run has ended."""


class Silent:
    """Nobody watches."""

    def update(self, iterations: int, elapsed: float, residual: float) -> None:
        """See `Watch.update`."""

    def close(self) -> None:
        """See `Watch.close`."""


class Progress:
    """Shows iteration, residual and time on standard error; costs one clock reading otherwise."""

    __slots__ = ("_bar", "_budget", "_next", "_task", "_title")

    def __init__(self, title: str, budget: Budget) -> None:
        self._title = title
        self._budget = budget
        self._bar: RichProgress | Bar | None = None
        self._task: Any = None
        self._next = perf_counter() + _DELAY

    def update(self, iterations: int, elapsed: float, residual: float) -> None:
        """Show where the run is, at most ten times a second."""
        if perf_counter() < self._next:
            return
        if self._bar is None:
            self._open()
        assert self._bar is not None
        self._next = perf_counter() + _INTERVAL
        title = f"{self._title}  residual {number(residual)}"
        done = elapsed if self._budget.time is not None else iterations
        if isinstance(self._bar, Bar):
            self._bar.update(f"{title}, {number(iterations)} iterations", done)
        else:
            self._bar.update(self._task, description=title, completed=done, iterations=iterations)

    def _open(self) -> None:
        total = self._budget.time if self._budget.time is not None else self._budget.iterations
        if in_notebook():
            self._bar = Bar(total)
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[iterations]} iterations"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._title, total=total, iterations=0)
        self._bar.start()

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
