"""`solve`: the one loop that owns limits, recording, progress and cancelling."""

from __future__ import annotations

import copy
import math
import platform
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from optiframe.chain import Chain, Judged
from optiframe.clock import Clock
from optiframe.errors import BrokenPlugin, InvalidInput, Unsuited
from optiframe.problems import Finding, Problem
from optiframe.progress import Progress
from optiframe.results import Result, Status, Trace
from optiframe.solvers import Budget, Iterate, Run, Solver

_DENSE = 10  # this many first iterates are all recorded
_RATIO = 1.1  # then each recorded iteration count is about this multiple of the one before
# A stream of its own: data drawn with default_rng(0) and a solver run with seed 0 would otherwise
# see the same numbers, and a random start could be the planted answer.
# The key is the word "opt": no generator that spawns children from its seed counts that far.
_SOLVERS_STREAM = (int.from_bytes(b"opt", "big"),)
# A black box may end so before it has any point: no feasible one, unbounded below, it gave up,
# or it kept to a limit.
_WITHOUT_ANSWER = (
    Status.INFEASIBLE,
    Status.DIVERGED,
    Status.STALLED,
    Status.TIME_LIMIT,
    Status.ITERATION_LIMIT,
)


class NotConverged(UserWarning):
    """A limit ended the run before the solver did."""


def solve(
    problem: Problem[Any],
    solver: str | Solver[Any, Any, Any],
    *,
    seed: int = 0,
    budget: Budget | Mapping[str, Any] | None = None,
    start: Any = None,
    progress: bool = True,
    trace: bool = True,
    **parameters: Any,
) -> Result[Any, Any]:
    """Solve a problem with a solver chosen by name.

    Parameters
    ----------
    problem
        What to solve.
    solver
        A registered name, with its parameters as further keywords, or a solver object.
    seed
        Fixes every random choice: same seed, same answer, on one machine and thread count.
    budget
        Limits on time, iterations and residual; a `Budget` or the same keys in a mapping.
    start
        Where to begin, in the problem's own terms, for solvers that accept one.
    progress
        A progress bar on standard error after one second, where that is a terminal.
    trace
        False records nothing on the way; the last iterate is always judged.

    Returns
    -------
    Result
        Always, unless something raises. A run that ends at a limit warns `NotConverged`.
        The first Ctrl-C ends the run at the next iterate (status `cancelled`); the second
        raises `KeyboardInterrupt`.

    Raises
    ------
    UnknownName, InvalidInput, Unsuited
        Before anything has run.
    """
    if isinstance(solver, str):
        from optiframe import api

        solver = api.solver(solver, **parameters)
    elif parameters:
        raise InvalidInput(
            f"parameters ({', '.join(parameters)}) go with a solver's name; "
            "a solver object already has its own"
        )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number of at least 0, got {seed!r}")
    limits = budget if isinstance(budget, Budget) else Budget(**(budget or {}))
    shown = progress and sys.stderr.isatty()
    with _first_interrupt() as stop:
        loop = _Loop(
            problem,
            solver,
            seed=int(seed),
            budget=limits,
            start=start,
            record=trace,
            stop=stop,
            shown=shown,
        )
        result = loop.result()
    if result.status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.STALLED, Status.DIVERGED):
        warnings.warn(f"{solver.name}: {result.message}", NotConverged, stacklevel=2)
    return result


def solve_within(
    run: Run, solver: Solver[Any, Any, Any], problem: Problem[Any], start: Any, budget: Budget
) -> Result[Any, Any]:
    """The body of `Run.nested`."""
    left = min(run.time_left(), math.inf if budget.time is None else budget.time)
    # A budget's time is positive; with nothing left the nested run still makes one step.
    limits = Budget(
        time=None if left == math.inf else max(left, 1e-9),
        iterations=budget.iterations,
        tolerance=budget.tolerance,
    )
    seed = int(run.rng.integers(2**63))
    loop = _Loop(
        problem, solver, seed=seed, budget=limits, start=start, record=False, stop=run._stop, shown=False
    )
    return loop.result()


class _Loop:
    """One run from the chain to the result."""

    def __init__(
        self,
        problem: Problem[Any],
        solver: Solver[Any, Any, Any],
        *,
        seed: int,
        budget: Budget,
        start: Any,
        record: bool,
        stop: threading.Event,
        shown: bool,
    ) -> None:
        began = perf_counter()
        if start is not None and not solver.accepts_start:
            raise Unsuited(f"{solver.name} takes no start; leave it out")
        self.problem, self.solver, self.seed, self.budget = problem, solver, seed, budget
        self.chain = Chain.reach(problem, solver)
        self.clock = Clock()
        self.run = Run(
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=_SOLVERS_STREAM)),
            None if start is None else self.chain.encode(start),
            budget,
            self.clock,
            stop,
        )
        self.stop = stop
        self.progress = Progress(solver.name, budget, shown)
        self.trace = Trace()
        self.record = record
        self.next_record = 1
        self.last: tuple[int, Judged] | None = None  # iteration and worth of the latest recorded iterate
        self.best: tuple[int, Judged, Any] | None = None  # the same with its detail, copied
        self.setup = perf_counter() - began

    def result(self) -> Result[Any, Any]:
        iterates = self.solver.iterates(self.chain.last, self.run)
        try:
            iterate, status, message = self._drive(iterates)
            return self._conclude(iterate, status, message)
        finally:
            self.progress.close()
            iterates.close()

    def _drive(self, iterates: Iterator[Iterate]) -> tuple[Iterate | None, Status, str]:
        # Everything between two iterates of an unrecorded run is here; it costs about a
        # microsecond, which examples/bench/loop_overhead.py measures.
        run, clock, progress, stop = self.run, self.clock, self.progress, self.stop
        most = math.inf if self.budget.iterations is None else self.budget.iterations
        longest = math.inf if self.budget.time is None else self.budget.time
        tolerance = self.budget.tolerance
        iterate: Iterate | None = None
        while True:
            clock.resume()
            try:
                iterate = next(iterates)
            except StopIteration as end:
                clock.pause()
                return iterate, *self._verdict(end.value, iterate)
            elapsed = clock.pause()
            run.iterations += iterate.steps
            residual = iterate.residual
            if self.record and run.iterations >= self.next_record and not self._worth(iterate, elapsed):
                return iterate, Status.DIVERGED, "the answer or its objective is no longer finite"
            if residual <= tolerance:
                return iterate, Status.CONVERGED, f"residual {residual:.3g} is at most {tolerance:.3g}"
            if residual == math.inf:
                return iterate, Status.DIVERGED, "the residual is infinite"
            if run.iterations >= most:
                return iterate, Status.ITERATION_LIMIT, self._limit(f"{most} iterations", residual)
            if elapsed >= longest:
                return iterate, Status.TIME_LIMIT, self._limit(f"{longest:g} s", residual)
            if stop.is_set():
                return iterate, Status.CANCELLED, "stopped by the user"
            progress.update(run.iterations, elapsed, residual)

    def _limit(self, what: str, residual: float) -> str:
        reached = "" if math.isnan(residual) else f" with residual {residual:.3g}"
        return f"stopped after {what}{reached}; raise the budget or check the solver's parameters"

    def _verdict(self, value: Any, iterate: Iterate | None) -> tuple[Status, str]:
        status, message = (Status.FINISHED, "") if value is None else value
        status = Status(status)
        if iterate is None and status not in _WITHOUT_ANSWER:
            raise BrokenPlugin(
                f"{self.solver.name} ended ({status}) without an iterate"
                f"{': ' + message if message else ''}; only {', '.join(_WITHOUT_ANSWER)} go without one"
            )
        return status, message or status.meaning

    def _worth(self, iterate: Iterate, elapsed: float) -> bool:
        """Judge and record an iterate; False when its objective stopped being finite."""
        now = self.run.iterations
        # A point that is not finite is a verdict here, not a reason for NumPy to warn.
        with np.errstate(invalid="ignore", over="ignore"):
            solution = self.solver.finish(self.chain.last, iterate)
            judged = self.chain.judge(solution)
        row = {
            "iteration": now,
            "time": elapsed,
            "objective": judged.objective,
            "violation": judged.violation,
            "residual": float(iterate.residual),
        }
        self.trace.append(row | {k: float(v) for k, v in (iterate.info or {}).items()})
        self.next_record = now + 1 if now < _DENSE else max(now + 1, math.ceil(now * _RATIO))
        before, self.last = self.last, (now, judged)
        if not self.solver.monotone and self._better(judged):
            self.best = (now, copy.deepcopy(judged), copy.deepcopy(iterate.detail))
        had_value = before is not None and not math.isnan(before[1].objective)
        lost_value = had_value and math.isnan(judged.objective)
        return not (math.isinf(judged.objective) or lost_value or _not_finite(solution))

    def _better(self, judged: Judged) -> bool:
        return self.best is None or self._rank(judged) < self._rank(self.best[1])

    def _rank(self, judged: Judged) -> tuple[int, float]:
        """Feasible before infeasible; then by objective or by violation; not finite last."""
        if not judged.violation <= max(self.budget.tolerance, 1e-9):
            return 1, judged.violation if math.isfinite(judged.violation) else math.inf
        return 0, judged.objective if math.isfinite(judged.objective) else math.inf

    def _conclude(self, iterate: Iterate | None, status: Status, message: str) -> Result[Any, Any]:
        elapsed = self.clock.read()
        if iterate is None or status is Status.INFEASIBLE:
            nothing = Judged(None, math.nan, math.nan, self.chain.last)
            return self._result(nothing, None, status, message, elapsed)
        if self.last is None or self.last[0] != self.run.iterations:
            finite = self._worth(iterate, elapsed)
            if not finite and status in (Status.CONVERGED, Status.FINISHED, Status.ITERATION_LIMIT):
                status, message = Status.DIVERGED, "the answer or its objective is no longer finite"
        assert self.last is not None
        judged, detail = self.last[1], iterate.detail
        if self.best is not None and self._rank(self.best[1]) < self._rank(judged):
            at, judged, detail = self.best
            message += f"; kept the best recorded iterate, number {at}"
        return self._result(judged, detail, status, message, elapsed)

    def _result(
        self, judged: Judged, detail: Any, status: Status, message: str, elapsed: float
    ) -> Result[Any, Any]:
        solution = judged.solution
        findings: tuple[Finding, ...] = tuple(self.run.findings)
        metrics: dict[str, float] = {}
        if solution is not None:
            findings += self.problem.diagnose(solution)
            metrics = self.problem.metrics(solution)
        return Result(
            solution=solution,
            detail=detail,
            status=status,
            message=message,
            objective=judged.objective,
            violation=judged.violation,
            metrics=metrics,
            findings=findings,
            iterations=self.run.iterations,
            time=elapsed,
            setup=self.setup,
            trace=self.trace,
            settings=self._settings(),
            solved=judged.problem.fingerprint(),
            problem=self.problem,
        )

    def _settings(self) -> dict[str, Any]:
        from optiframe import registry

        return {
            "problem": self.problem.name,
            "solver": {"name": self.solver.name, **self.solver.model_dump()},
            "seed": self.seed,
            "budget": self.budget.model_dump(),
            "versions": {"python": platform.python_version(), **registry.versions(type(self.solver))},
        }


def _not_finite(solution: Any) -> bool:
    return (
        isinstance(solution, np.ndarray)
        and solution.dtype.kind == "f"
        and not bool(np.isfinite(solution).all())
    )


@contextmanager
def _first_interrupt() -> Iterator[threading.Event]:
    """An event set by the first Ctrl-C; the second raises. Only the main thread can listen."""
    stop = threading.Event()
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_interrupt(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
