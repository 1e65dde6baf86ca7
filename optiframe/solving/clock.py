"""A stopwatch that runs only while the solver does."""

from __future__ import annotations

from time import perf_counter


class Clock:
    """Seconds between `resume` and `pause`, added up; `read` also counts the open stretch."""

    __slots__ = ("_since", "_total")

    def __init__(self) -> None:
        self._total = 0.0
        self._since: float | None = None

    def resume(self) -> None:
        """Start counting."""
        self._since = perf_counter()

    def pause(self) -> float:
        """Stop counting; gives the total."""
        if self._since is not None:
            self._total += perf_counter() - self._since
            self._since = None
        return self._total

    def read(self) -> float:
        """The total, the open stretch included."""
        return self._total if self._since is None else self._total + perf_counter() - self._since
