"""`solve`: the one loop that owns limits, recording, progress and cancelling."""

from __future__ import annotations

import math
import platform
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from optiframe import api
from optiframe.chain import Chain, Judged
from optiframe.clock import Clock
from optiframe.errors import BrokenPlugin, InvalidInput, Unsuited
from optiframe.interrupt import first_interrupt
from optiframe.objectives import Objective
from optiframe.problems import Finding, Problem
from optiframe.progress import Progress, Watch
from optiframe.recorder import Recorder
from optiframe.results import Result, Status
from optiframe.solvers import Budget, Iterate, Iterates, Run, Solver
from optiframe.values import as_array

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


_NOT_FINITE = "the answer or its objective is no longer finite"


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
        False records nothing on the way; the last iterate is always judged, and a solver that
        is not monotone is judged on the way all the same, so that the best is kept.

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
    _check_arguments(problem, solver, budget, parameters)
    if isinstance(solver, str):
        solver = api.solver(solver, **parameters)
    elif parameters:
        raise InvalidInput(
            f"parameters ({', '.join(parameters)}) go with a solver's name; "
            "a solver object already has its own"
        )
    limits = budget if isinstance(budget, Budget) else Budget(**(budget or {}))
    shown = progress and sys.stderr.isatty()
    with first_interrupt() as stop:
        loop = _Loop(
            problem,
            solver,
            seed=whole_seed(seed),
            budget=limits,
            start=start,
            record=trace,
            stop=stop,
            watch=Progress(solver.name, limits, shown),
        )
        result = loop.result()
    if result.status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.STALLED, Status.DIVERGED):
        warnings.warn(f"{solver.name}: {result.message}", NotConverged, stacklevel=2)
    return result


def whole_seed(seed: Any) -> int:
    """The seed as a Python int; `InvalidInput` unless it is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number of at least 0, got {seed!r}")
    return int(seed)


def _check_arguments(problem: Any, solver: Any, budget: Any, parameters: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for what is easily mixed up, saying what to write."""
    if isinstance(problem, Objective):
        raise InvalidInput("this is an objective, not a problem; wrap it: optiframe.Minimize(objective)")
    if not isinstance(problem, Problem):
        raise InvalidInput(
            f"a {type(problem).__name__} is not a problem; build one, such as "
            'optiframe.problem(dataset="labels.rte") or optiframe.Minimize(objective)'
        )
    if not isinstance(solver, str | Solver):
        what = solver.__name__ if isinstance(solver, type) else type(solver).__name__
        raise InvalidInput(f"solver must be a name or a solver object, such as {what}(), got {solver!r:.60}")
    keyed = isinstance(budget, Mapping) and all(isinstance(key, str) for key in budget)
    if budget is not None and not isinstance(budget, Budget) and not keyed:
        raise InvalidInput(f"budget must be such as {{'iterations': 100}} or a Budget, got {budget!r:.60}")
    limits = sorted(set(parameters) & set(Budget.model_fields))
    if limits:
        raise InvalidInput(f"limits go into the budget: budget={{{limits[0]!r}: {parameters[limits[0]]!r}}}")


def solve_watched(
    problem: Problem[Any],
    solver: Solver[Any, Any, Any],
    *,
    seed: int,
    budget: Budget,
    watch: Watch,
    trace: bool = True,
    observe: Callable[[Problem[Any]], Problem[Any]] | None = None,
) -> Result[Any, Any]:
    """`solve` for a program that measures: no bar, no signal handler, no warning.

    `watch` is told where the run is. `observe` maps the problem the solver takes to one that
    stands in for it, with the same content, such as one that counts evaluations; answers are
    judged by the original, so that judging is not counted.
    """
    return _Loop(
        problem,
        solver,
        seed=seed,
        budget=budget,
        start=None,
        record=trace,
        stop=threading.Event(),
        watch=watch,
        observe=observe,
    ).result()


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
        problem,
        solver,
        seed=seed,
        budget=limits,
        start=start,
        record=False,
        stop=run._stop,
        watch=Progress(solver.name, limits, shown=False),
        report=False,
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
        watch: Watch,
        report: bool = True,
        observe: Callable[[Problem[Any]], Problem[Any]] | None = None,
    ) -> None:
        began = perf_counter()
        if start is not None and not solver.accepts_start:
            raise Unsuited(f"{solver.name} takes no start; leave it out")
        self.problem, self.solver, self.seed, self.budget = problem, solver, seed, budget
        self.chain = Chain.reach(problem, solver)
        self.clock = Clock()
        self.run = Run(
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=_SOLVERS_STREAM)),
            None if start is None else self._inner_start(start),
            budget,
            self.clock,
            stop,
        )
        self.stop, self.report = stop, report
        self.progress = watch
        # What the solver sees may be watched; what judges it is not.
        self.given = self.chain.last if observe is None else observe(self.chain.last)
        self.recorder = Recorder(self.chain, solver, record)
        self.setup = perf_counter() - began

    def _inner_start(self, start: Any) -> Any:
        inner = self.chain.encode(start)
        try:
            if isinstance(inner, list | tuple | np.ndarray):
                inner = as_array(inner).copy()  # the solver's own, to write to as it likes
            self.chain.last.check(inner)
        except InvalidInput as error:
            raise InvalidInput(f"start: {error}") from None
        return inner

    def result(self) -> Result[Any, Any]:
        iterates = self.solver.iterates(self.given, self.run)
        if not isinstance(iterates, Generator):
            raise BrokenPlugin(
                f"{self.solver.name}: iterates must be a generator, got a {type(iterates).__name__}; "
                "yield each Iterate"
            )
        try:
            return self._conclude(*self._drive(iterates))
        finally:
            self.progress.close()
            self._close(iterates)

    def _close(self, iterates: Iterates) -> None:
        try:
            iterates.close()
        except Exception as error:  # the answer is there; the solver's tidying up must not lose it
            warnings.warn(
                f"{self.solver.name} raised {type(error).__name__} while it was being closed: {error}",
                RuntimeWarning,
                stacklevel=2,
            )

    def _drive(self, iterates: Iterates) -> tuple[Iterate | None, Status, str]:
        # Everything between two iterates of an unrecorded run is here; it costs less than a
        # microsecond, which examples/bench/loop_overhead.py measures.
        run, clock, recorder, progress = self.run, self.clock, self.recorder, self.progress
        most = math.inf if self.budget.iterations is None else self.budget.iterations
        longest = math.inf if self.budget.time is None else self.budget.time
        tolerance, stop, one_shot = self.budget.tolerance, self.stop, self.solver.one_shot
        iterate: Iterate | None = None
        while True:
            clock.resume()
            try:
                iterate = next(iterates)
            except StopIteration as end:
                clock.pause()
                return iterate, *self._verdict(end.value, iterate)
            elapsed = clock.pause()
            if type(iterate) is not Iterate or iterate.steps < 1 or run.iterations == 0:
                self._check(iterate)
            run.iterations += iterate.steps
            residual = iterate.residual
            if run.iterations >= recorder.next and not recorder.judge(iterate, run.iterations, elapsed):
                return iterate, Status.DIVERGED, _NOT_FINITE
            if residual <= tolerance:
                if residual < 0:
                    raise BrokenPlugin(
                        f"{self.solver.name}: a residual is a distance, and this is {residual}"
                    )
                return iterate, Status.CONVERGED, f"residual {residual:.3g} is at most {tolerance:.3g}"
            if residual == math.inf:
                return iterate, Status.DIVERGED, "the residual is infinite"
            if one_shot:
                if run.iterations > iterate.steps:
                    raise BrokenPlugin(f"{self.solver.name} says it is one_shot, and yielded more than once")
                continue
            if run.iterations >= most:
                return iterate, Status.ITERATION_LIMIT, self._limit(f"{most} iterations", residual)
            if elapsed >= longest:
                return iterate, Status.TIME_LIMIT, self._limit(f"{longest:g} s", residual)
            if stop.is_set():
                return iterate, Status.CANCELLED, "stopped by the user"
            progress.update(run.iterations, elapsed, residual)

    def _check(self, thing: Any) -> None:
        """Raise `BrokenPlugin` unless this is an iterate the loop can work with."""
        who = self.solver.name
        if not isinstance(thing, Iterate):
            raise BrokenPlugin(f"{who} yielded a {type(thing).__name__}; yield Iterate(x, ...)")
        if thing.steps < 1:
            raise BrokenPlugin(f"{who} yielded an Iterate of {thing.steps} steps; at least 1")
        if np.ndim(thing.residual) or not isinstance(thing.residual, float | int | np.number):
            raise BrokenPlugin(f"{who}: a residual is one number, and this is {thing.residual!r:.60}")
        try:
            self.chain.last.check(self.solver.finish(self.chain.last, thing))
        except InvalidInput as error:
            raise BrokenPlugin(
                f"{who} does not give an answer to {self.chain.last.name!r}: {error}"
            ) from None

    def _limit(self, what: str, residual: float) -> str:
        reached = (
            "; its residual was never a number" if math.isnan(residual) else f" with residual {residual:.3g}"
        )
        return f"stopped after {what}{reached}: raise the budget or check the solver's parameters"

    def _verdict(self, value: Any, iterate: Iterate | None) -> tuple[Status, str]:
        try:
            status, message = (Status.FINISHED, "") if value is None else value
            status = Status(status)
            if status.of_comparison:
                raise ValueError(status)
        except (TypeError, ValueError):
            raise BrokenPlugin(
                f"{self.solver.name} ended with {value!r}; return a Status and a message, or nothing"
            ) from None
        if iterate is None and status not in _WITHOUT_ANSWER:
            raise BrokenPlugin(
                f"{self.solver.name} ended ({status}) without an iterate"
                f"{': ' + message if message else ''}; only {', '.join(_WITHOUT_ANSWER)} go without one"
            )
        return status, message or status.meaning

    def _conclude(self, iterate: Iterate | None, status: Status, message: str) -> Result[Any, Any]:
        elapsed = self.clock.read()
        if iterate is None or status is Status.INFEASIBLE:
            nothing = Judged(None, math.nan, math.nan, self.chain.last)
            return self._result(nothing, None, status, message, elapsed)
        if not self.recorder.has(self.run.iterations):
            finite = self.recorder.judge(iterate, self.run.iterations, elapsed)
            if not finite:
                status, message = Status.DIVERGED, _NOT_FINITE
        judged, detail, note = self.recorder.keep(iterate)
        return self._result(judged, detail, status, message + note, elapsed)

    def _result(
        self, judged: Judged, detail: Any, status: Status, message: str, elapsed: float
    ) -> Result[Any, Any]:
        solution = judged.solution
        findings: tuple[Finding, ...] = tuple(self.run.findings)
        metrics: dict[str, float] = {}
        if solution is not None and self.report:
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
            judging=self.recorder.seconds,
            trace=self.recorder.trace,
            settings=self._settings() if self.report else {},
            judged=judged.problem,
            problem=self.problem,
        )

    def _settings(self) -> dict[str, Any]:
        from optiframe.parts import versions_of

        return {
            "problem": self.problem.name,
            "solver": {"name": self.solver.name, **self.solver.model_dump()},
            "seed": self.seed,
            "budget": self.budget.model_dump(),
            "versions": {"python": platform.python_version(), **versions_of(self.solver)},
        }
