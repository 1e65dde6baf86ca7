"""Running a plan: claim a cell, have it run, commit what came of it, until all are finished."""

from __future__ import annotations

import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Any

from optiframe.comparison.cells import Cell, Plan, Request
from optiframe.comparison.environment import environment
from optiframe.comparison.live import View, view_for
from optiframe.comparison.plan.requests import draws, request_of
from optiframe.comparison.plan.unchanged import DataChanged, UneditedCode
from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.run.executor import Executor
from optiframe.comparison.run.executors import executor_for
from optiframe.comparison.store.store import Store
from optiframe.errors import OptiframeError
from optiframe.findings import Finding
from optiframe.solving.result import Status

# Between looks at cells that another process runs: short beside a cell, whose start alone takes longer.
_POLL_SECONDS = 0.25
# Ctrl-C, an order to end, and (where there is such a thing) the end of the terminal.
_SIGNALS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


def run_plan(
    plan: Plan,
    folder: Path | str,
    *,
    show: bool = True,
    retry: bool = False,
    executor: Executor | None = None,
) -> Records:
    """Run the cells of a plan that are not finished yet, and give all of its outcomes.

    Every outcome is committed the moment it is known; whatever ends this process, the same
    call resumes. Several processes on one machine may run the same plan into the same folder, unless
    it is on a network drive: they share the cells, and each returns when all are finished.

    Parameters
    ----------
    plan
        What to run.
    folder
        Where the store is, or is made.
    show
        Whether to show the progress on standard error.
    retry
        Whether cells that ended by `error`, `timeout`, `crashed` or `out_of_memory` run again.
        Until they end again, their earlier outcome stays.
    executor
        Where to run, instead of what the plan names; it is closed at the end.

    Raises
    ------
    InvalidInput, StoreFailed
        When the store cannot be used.
    KeyboardInterrupt
        On Ctrl-C, after the running cells were killed; those finished are stored.
    Terminated
        The same when the process is asked to end, or its terminal closes; unless it is caught, the
        process ends with the exit code that says so.
    """
    with Store(folder) as store, view_for(plan, show) as view, _Interrupts() as interrupts:
        store.begin(plan, environment())
        work = _Work(plan, store, view, retry)
        if work.finished:
            rest = "the rest run now" if work.left else "nothing is left to run"
            view.say(f"{work.finished} of {work.total} cells are finished already; {rest}")
        try:
            if work.left or executor is not None:
                _run(executor or executor_for(plan.executor, work.left, plan.limits), work, view, interrupts)
        except (KeyboardInterrupt, Terminated):
            view.say(
                f"stopped: {work.finished} of {work.total} cells are finished and stored in {store.folder}; "
                "the same command runs the rest"
            )
            raise
        if not work.given_up:
            store.end()
        return store.records()


def _run(executor: Executor, work: _Work, view: View, interrupts: _Interrupts) -> None:
    with closing(executor):
        while True:
            for request, outcome in executor.run(work, view.progress):
                with interrupts.held():
                    work.ended(request, outcome)
            if not work.left:
                return
            view.waiting(work.left)
            time.sleep(_POLL_SECONDS)


class _Work(Iterator[Request]):
    """The cells still to be run, as requests; each is claimed when it is drawn.

    Drawing stops when no cell can be had now; it may go on later, when another process has
    given one up. `left` counts those that are neither finished nor running here.
    """

    def __init__(self, plan: Plan, store: Store, view: View, retry: bool) -> None:
        self._plan, self._store, self._view = plan, store, view
        cells = {cell.key: cell for cell in plan.cells}  # the same content under two titles runs once
        finished = store.finished()
        self._again = {key: when for key, when in store.failed().items() if key in cells} if retry else {}
        self._pending = {
            key: cell for key, cell in cells.items() if key not in finished or key in self._again
        }
        self._running: dict[str, Cell] = {}
        self._code = UneditedCode()
        self.total = len(cells)
        self.given_up = 0
        view.begin(self.total, {key: finished[key] for key in cells if key not in self._pending})

    @property
    def left(self) -> int:
        """Cells nobody has finished and this process does not run."""
        return len(self._pending)

    @property
    def finished(self) -> int:
        """Cells that are stored."""
        return self.total - len(self._pending) - len(self._running) - self.given_up

    def __next__(self) -> Request:
        for cell in list(self._pending.values()):
            if cell.key in self._pending and self._drawn(cell):
                try:
                    self._code.check(cell.problem, cell.solver)
                    return request_of(self._plan, cell)
                except Exception as error:  # an object that cannot be sent fails its cell, not the run
                    self._fail(cell, error)
        raise StopIteration

    def _drawn(self, cell: Cell) -> bool:
        """Claim a cell, which counts as running then; False where another process has it or had it."""
        claimed = self._store.claim(cell.key, self._again.get(cell.key))
        if claimed == "busy":
            return False
        del self._pending[cell.key]
        if claimed == "finished":
            self._view.elsewhere(cell)
            return False
        self._running[cell.key] = cell
        self._view.started(cell)
        return True

    def _fail(self, cell: Cell, error: Exception) -> None:
        known = isinstance(error, OptiframeError)
        message = str(error) if known else f"{type(error).__name__}: {error}"
        whole = "".join(traceback.format_exception(error))
        said = f"the cell cannot be sent: {message}"
        provisional = isinstance(error, DataChanged)
        self._end(cell, Outcome(Status.ERROR, said, traceback=whole, provisional=provisional))

    def ended(self, request: Request, outcome: Outcome) -> None:
        """Commit what came of a request, for every seed that it cannot differ for."""
        cell = self._running[request.key]
        try:
            self._code.check(cell.problem, cell.solver)
        except DataChanged as error:  # its process may have loaded the one or the other
            outcome = Outcome(Status.ERROR, str(error), wall=outcome.wall, provisional=True)
        self._end(cell, outcome)
        if outcome.answered and not (outcome.seed_matters or outcome.provisional or draws(cell.problem)):
            self._share(cell, outcome)

    def _share(self, cell: Cell, outcome: Outcome) -> None:
        """Give the outcome of a cell to those that differ from it by the seed alone."""
        text = (
            f"Not run again: neither the data nor the solver uses the seed. These are the results of seed "
            f"{cell.seed}."
        )
        note = asdict(Finding("note", text, identifier="cell.same-for-every-seed"))
        shared = replace(outcome, findings=(*outcome.findings, note))
        for other in list(self._pending.values()):
            if _content(other) == _content(cell) and self._drawn(other):
                self._end(other, shared)

    def _end(self, cell: Cell, outcome: Outcome) -> None:
        # Neither is an end: the cell runs again next time.
        self.given_up += outcome.provisional or outcome.status is Status.CANCELLED
        if outcome.status is Status.CANCELLED:
            self._store.release(cell.key)
        else:
            try:
                self._store.finish(cell.key, outcome, self._again.get(cell.key))
            except OptiframeError:  # of the store: nothing can be kept any more
                raise
            except Exception as error:  # of this outcome, such as a number too large for the file
                said = f"its outcome cannot be stored: {type(error).__name__}: {error}"
                whole = "".join(traceback.format_exception(error))
                outcome = Outcome(Status.ERROR, said, wall=outcome.wall, traceback=whole)
                self._store.finish(cell.key, outcome, self._again.get(cell.key))
        del self._running[cell.key]
        self._view.ended(cell, outcome)


def _content(cell: Cell) -> tuple[str, str]:
    return cell.problem.content, cell.solver.content


class Terminated(SystemExit):
    """This process was told to end (SIGTERM), or its terminal closed (SIGHUP).

    Not caught it ends the process, without a traceback, with the exit code of that signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)  # as a shell says of what a signal has killed: 143, 129


class _Interrupts:
    """Ctrl-C and orders to end raise at once, but while an outcome is being committed: then right after."""

    def __init__(self) -> None:
        self._held = False
        self._pending: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interrupts:
        # Only the main thread can listen, and a process told to ignore one (nohup) goes on ignoring it.
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        for number, before in self._before.items():
            # None: the handler was not installed from Python and cannot be put back by it.
            signal.signal(number, signal.SIG_DFL if before is None else before)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._held:
            raise _raised_by(number)
        self._pending = number

    @contextmanager
    def held(self) -> Iterator[None]:
        """No interrupt within; one that came is raised at the end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._pending is not None:
            number, self._pending = self._pending, None
            raise _raised_by(number)


def _raised_by(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)
