"""A running comparison, seen from the terminal: a table there, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import threading
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from optiframe.comparison.cells import Cell, Plan
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.isolation import Progress
from optiframe.comparison.terminal_table import style_of
from optiframe.comparison.units import duration
from optiframe.notebook import Bar, in_notebook
from optiframe.numbers import number
from optiframe.printable import printable
from optiframe.solving.result import Status

_UPDATES = 8  # a second: more cannot be read, and each costs the terminal a screenful
_LAST = 6  # finished cells shown
_WIDE = 90  # columns from which there is room for a bar beside the counts


def view_for(plan: Plan, show: bool) -> View:
    """A live table in a terminal, a bar in a notebook, lines elsewhere, nothing when not asked."""
    if not show:
        return View(plan)
    if in_notebook():
        return NotebookView(plan)
    return LiveView(plan) if sys.stderr.isatty() else LineView(plan)


class View:
    """Keeps count, and shows nothing; the others show what it knows.

    The main thread tells it what begins and ends, other threads where a running cell is.
    """

    def __init__(self, plan: Plan) -> None:
        self.limit = plan.limits.time
        self.total = 0
        self.counts: Counter[Status] = Counter()
        self.elsewhere_ended = 0
        self.cancelled = 0
        self.running: dict[str, _Running] = {}
        self.last: deque[tuple[Cell, Outcome]] = deque(maxlen=_LAST)
        self._began = monotonic()
        self._ended_here = 0
        self._lock = threading.Lock()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def begin(self, total: int, finished: Mapping[str, Status]) -> None:
        """How many cells there are, and those finished before."""
        self.total = total
        self.counts.update(finished.values())
        self._began = monotonic()

    def started(self, cell: Cell) -> None:
        """A cell was claimed and starts."""
        with self._lock:
            self.running[cell.key] = _Running(cell, monotonic())

    def progress(self, news: Progress) -> None:
        """Where a running cell is; from any thread."""
        with self._lock:
            if (running := self.running.get(news.key)) is not None:
                running.stage, running.iterations = news.stage, news.iterations
                running.residual = news.residual

    def ended(self, cell: Cell, outcome: Outcome) -> None:
        """A cell ended, and its outcome is stored."""
        with self._lock:
            self.running.pop(cell.key, None)
            if outcome.status is Status.CANCELLED:
                self.cancelled += 1
            else:
                self.counts[outcome.status] += 1
            self._ended_here += 1
            self.last.append((cell, outcome))

    def elsewhere(self, cell: Cell) -> None:
        """A cell was finished by another process meanwhile."""
        self.elsewhere_ended += 1

    def waiting(self, cells: int) -> None:
        """Nothing is left to do here; another process runs the last cells."""

    def say(self, sentence: str) -> None:
        """Something to tell once."""

    @property
    def done(self) -> int:
        """Cells finished, here, before or elsewhere."""
        return sum(self.counts.values()) + self.elsewhere_ended

    @property
    def failed(self) -> int:
        """Cells that ended without an answer that counts; unsuited pairs are none of them."""
        return sum(number for status, number in self.counts.items() if _failed(status))

    def remaining(self) -> float:
        """Seconds until the rest is done at the pace so far; nan before the first end."""
        left = self.total - self.done - self.cancelled
        pace = (monotonic() - self._began) / self._ended_here if self._ended_here else math.nan
        return left * pace


@dataclass
class _Running:
    cell: Cell
    since: float
    stage: str = "starting"
    iterations: int = 0
    residual: float = math.nan


class LineView(View):
    """A line for each cell that ended, for logs and pipes."""

    _waits = False

    def ended(self, cell: Cell, outcome: Outcome) -> None:
        super().ended(cell, outcome)
        width = len(str(self.total))
        left = self.remaining()
        rest = "" if math.isnan(left) or self.done >= self.total else f"; {duration(left)} left"
        reason = f": {outcome.message}" if _failed(outcome.status) and outcome.message else ""
        self.say(
            f"[{self.done:>{width}}/{self.total}] {cell.problem.title} | {cell.solver.title} | "
            f"seed {cell.seed} | {f'{outcome.status} {_took(outcome)}'.strip()}{_one_line(reason)}{rest}"
        )

    def waiting(self, cells: int) -> None:
        if not self._waits:  # once
            self._waits = True
            self.say(f"waiting for another process, which runs the last {cells}")

    def say(self, sentence: str) -> None:
        # A reader that is gone, such as a closed pipe, must not stop a comparison.
        with suppress(OSError, ValueError):
            print(sentence, file=sys.stderr, flush=True)


class NotebookView(View):
    """A bar below the cell, with counts; sentences and failures stay as lines."""

    _bar: Bar

    def begin(self, total: int, finished: Mapping[str, Status]) -> None:
        super().begin(total, finished)
        self._bar = Bar(total)
        self._draw()

    def ended(self, cell: Cell, outcome: Outcome) -> None:
        super().ended(cell, outcome)
        if _failed(outcome.status):
            reason = _one_line(outcome.message)
            self.say(
                f"{cell.problem.title} | {cell.solver.title} | seed {cell.seed} | {outcome.status} {reason}"
            )
        self._draw()

    def _draw(self) -> None:
        left = self.remaining()
        rest = "" if math.isnan(left) or self.done >= self.total else f", {duration(left)} left"
        failed = f", {self.failed} failed" if self.failed else ""
        self._bar.update(f"{self.done} of {self.total} runs{failed}{rest}", self.done)

    def say(self, sentence: str) -> None:
        print(printable(sentence))

    def __exit__(self, *error: object) -> None:
        if hasattr(self, "_bar"):
            self._bar.stop()


class LiveView(View):
    """A table that is redrawn in place: counts, what runs, what ended last, and how long it will take."""

    def __init__(self, plan: Plan, console: Console | None = None) -> None:
        super().__init__(plan)
        self.console = console or Console(stderr=True)
        self._note = ""
        self._live = Live(
            console=self.console,
            get_renderable=self._picture,
            refresh_per_second=_UPDATES,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> View:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError, ValueError):  # the terminal may be gone
            self._live.stop()

    def say(self, sentence: str) -> None:
        self._note = sentence

    def waiting(self, cells: int) -> None:
        self._note = f"waiting for another process, which runs the last {cells}"

    def _picture(self) -> Group:
        with self._lock:
            running, last = list(self.running.values()), list(self.last)
        # A table taller than the terminal would scroll instead of being redrawn.
        last = last[-max(1, self.console.height // 4) :]
        room = max(1, self.console.height - len(last) - 7)  # 7: the other lines that there may be
        parts: list[RenderableType] = [self._headline()]
        if running:
            parts.append(self._running_table(running[:room]))
            if len(running) > room:
                parts.append(Text(f"  and {len(running) - room} more", style="dim"))
        if last:
            parts += ["", self._last_table(last)]
        if self._note:
            parts.append(Text(self._note, style="dim"))
        return Group(*parts)

    def _headline(self) -> Table:
        waiting = max(0, self.total - self.done - self.cancelled - len(self.running))
        words = Text.assemble(
            (f"{self.done}", "bold"),
            f" of {self.total} done",
            *([(f"  {self.failed} failed", "red")] if self.failed else []),
            f"  {len(self.running)} running  {waiting} waiting",
            no_wrap=True,
            overflow="ellipsis",
        )
        left = self.remaining()
        if self.done < self.total and not math.isnan(left):
            words.append(f"  {duration(left)} left", "cyan")
        line = Table.grid(padding=(0, 2), expand=False)
        bar = ProgressBar(total=max(self.total, 1), completed=self.done, width=24)
        line.add_row(*([bar] if self.console.width >= _WIDE else []), words)
        return line

    def _running_table(self, running: list[_Running]) -> Table:
        table = _table("problem", "solver", "seed>", "stage", "iterations>", "residual>", "time>")
        for one in running:
            table.add_row(
                *_who(one.cell),
                Text(one.stage),
                f"{one.iterations}" if one.iterations else "",
                "" if math.isnan(one.residual) else number(one.residual),
                f"{monotonic() - one.since:.1f} / {self.limit:g} s",
            )
        return table

    @staticmethod
    def _last_table(last: list[tuple[Cell, Outcome]]) -> Table:
        table = _table("problem", "solver", "seed>", "ended", "time>", "")
        for cell, outcome in reversed(last):
            reason = outcome.message if _failed(outcome.status) else ""
            table.add_row(
                *_who(cell),
                Text(outcome.status.replace("_", " "), style_of(outcome.status)),
                _took(outcome),
                Text(_one_line(reason), "dim"),
            )
        return table


def _table(*columns: str) -> Table:
    """A table with these columns; those that end with > are numbers."""
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    # A status is read at a glance, so it is never cut; names and reasons may be.
    least = {"ended": len("iteration limit"), "problem": 6, "solver": 6}
    for column in columns:
        table.add_column(
            column.rstrip(">"),
            justify="right" if column.endswith(">") else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=least.get(column),
        )
    return table


def _who(cell: Cell) -> tuple[Text, Text, str]:
    """Titles as they are: one with brackets is no markup."""
    return Text(cell.problem.title), Text(cell.solver.title), str(cell.seed)


def _failed(status: Status) -> bool:
    return status in (Status.DIVERGED, Status.INFEASIBLE) or (
        status.of_comparison and status is not Status.UNSUITED
    )


def _took(outcome: Outcome) -> str:
    """Seconds of solving where that is known, else of the whole process; nothing for an unsuited pair."""
    seconds = outcome.wall if math.isnan(outcome.time) else outcome.time
    return "" if math.isnan(seconds) or outcome.status is Status.UNSUITED else f"{number(seconds)} s"


def _one_line(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= 100 else f"{line[:99]}…"
