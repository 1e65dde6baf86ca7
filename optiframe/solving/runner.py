"""One run of a solver on a problem: the loop that owns limits, recording and the messages at the end."""

from __future__ import annotations

import math
import platform
import threading
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from optiframe.errors import BrokenPlugin, InvalidInput, Unsuited
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.minimize import Composite
from optiframe.problems.problem import Problem
from optiframe.problems.projection import Projection
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.raised import innermost
from optiframe.records.fields import as_array
from optiframe.solving.budget import Budget
from optiframe.solving.chain import Chain
from optiframe.solving.clock import Clock
from optiframe.solving.counting import Spent, limited, observed
from optiframe.solving.derivative_check import gradient_finding
from optiframe.solving.evaluation import Evaluation, metrics_of
from optiframe.solving.given_iterates import check_iterate, verdict
from optiframe.solving.minimum_check import not_a_minimum
from optiframe.solving.progress import Silent, Watch
from optiframe.solving.recorder import Recorder
from optiframe.solving.result import FEASIBLE, Result, Status, Trace
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

# A stream of its own: data drawn with default_rng(0) and a solver run with seed 0 would otherwise
# see the same numbers, and a random start could be the planted answer.
# The key is the word "opt": no generator that spawns children from its seed counts that far.
_SOLVERS_STREAM = (int.from_bytes(b"opt", "big"),)
_ITS_OWN_END = 1e-3  # of the point: solvers with a rule of their own, such as SCS, come as near as 1e-4


class NotClosed(RuntimeWarning):
    """A solver raised when it was asked to end, or went on."""


class Runner:
    """One run from the chain to the result.

    Parameters
    ----------
    problem, solver, seed, budget, start
        As for `optiframe.solve`.
    record
        Whether to write down recorded iterates (`Result.trace`).
    stop
        Set from elsewhere, it ends the run at the next iterate.
    watch
        Told where the run is.
    report
        Whether the result has metrics, findings and settings.
    observe
        Maps the problem the solver takes to one that stands in for it, with the same content, such
        as one that counts evaluations. Answers are evaluated by the original, which is not counted.
    """

    def __init__(
        self,
        problem: Problem[Any],
        solver: Solver[Any, Any, Any],
        *,
        seed: int,
        budget: Budget,
        start: Any = None,
        record: bool = True,
        stop: threading.Event | None = None,
        watch: Watch | None = None,
        report: bool = True,
        observe: Callable[[Problem[Any]], Problem[Any]] | None = None,
    ) -> None:
        began = perf_counter()
        self.problem, self.solver, self.seed, self.budget = problem, solver, seed, budget
        self.chain = Chain.reach(problem, solver)
        if start is not None and not solver.accepts_start:
            raise Unsuited(f"{solver.name} takes no start; leave it out")
        self.clock = Clock()
        self.stop, self.report = stop or threading.Event(), report
        self.progress: Watch = watch or Silent()
        self.run = Run(
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=_SOLVERS_STREAM)),
            None if start is None else self._inner_start(start),
            budget,
            self.clock,
            stop=self.stop,
            inner=self._solve_inside,
        )
        # What the solver sees may be watched; what evaluates its answers is not.
        self.given = self.chain.last if observe is None else observe(self.chain.last)
        self.seen = limited(self.given, solver, budget)
        if self.seen is not None:
            self.given = observed(self.given, self.seen)
        self.recorder = Recorder(self.chain, solver, record)
        self.kept: Evaluation | None = None  # the answer that the result gives, once there is one
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

    def _solve_inside(
        self, solver: Solver[Any, Any, Any], problem: Problem[Any], start: Any, budget: Budget
    ) -> Result[Any, Any]:
        """The body of `Run.solve`."""
        left = min(self.run.time_left(), math.inf if budget.time is None else budget.time)
        # A budget's time is positive; with nothing left the inner run still makes one step.
        limits = budget.model_copy(update={"time": None if left == math.inf else max(left, 1e-9)})
        inner = Runner(
            problem,
            solver,
            seed=self.run.inner_seed(),
            budget=limits,
            start=start,
            record=False,
            stop=self.stop,
            report=False,
        )
        try:
            return inner.result()
        finally:
            self.run.drew = self.run.drew or inner.run.drew

    def result(self) -> Result[Any, Any]:
        """Run to the end; raises what the solver raises, and `BrokenPlugin` where it breaks its contract."""
        self._look_at_gradient()
        iterates = self.solver.iterates(self.given, self.run)
        if not isinstance(iterates, Generator):
            raise BrokenPlugin(f"{self.solver.name}: iterates must be a generator, got {_kind(iterates)}")
        try:
            return self._conclude(*self._drive(iterates))
        finally:
            self.progress.close()
            self._close(iterates)

    def _look_at_gradient(self) -> None:
        """Warn of a gradient that does not fit; not where each call of the objective counts."""
        if not self.report or self.seen is not None or not self.solver.uses:
            return
        finding = gradient_finding(self.chain.last, self.run.start, self.seed)
        if finding is not None:
            self.run.findings.append(finding)

    def _look_around(self, answer: Any, status: Status) -> None:
        """Warn of a converged answer that is no minimum; not where each call of the objective counts."""
        if not self.report or self.seen is not None or status is not Status.CONVERGED:
            return
        finding = not_a_minimum(self.chain.last, answer, self.run.iterations, self.seed)
        if finding is not None:
            self.run.findings.append(finding)

    def _close(self, iterates: Iterates) -> None:
        try:
            iterates.close()
        except Exception as error:  # the answer is there; the solver's tidying up must not lose it
            warnings.warn(
                f"{self.solver.name} raised {type(error).__name__} while it was being closed: {error}; the "
                "answer is kept",
                NotClosed,
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
                return iterate, *verdict(end.value, iterate, self.solver)
            except Spent as spent:
                clock.pause()
                if spent.of is not self.seen:  # of the run that this one is inside
                    raise
                return self._spent(iterate)
            elapsed = clock.pause()
            if self.seen is not None and type(iterate) is Iterate:
                iterate = self.seen.noted(iterate)
            if type(iterate) is not Iterate or run.iterations == 0 or iterate.steps < 1:
                check_iterate(iterate, self.solver, self.chain.last)
            run.iterations += iterate.steps
            residual = iterate.residual
            if run.iterations >= recorder.next and (
                diverged := recorder.evaluate(iterate, run.iterations, elapsed)
            ):
                return iterate, Status.DIVERGED, diverged
            if residual <= tolerance:
                if residual < 0:
                    raise BrokenPlugin(
                        f"{self.solver.name}: a residual is a distance, and this is {residual}"
                    )
                return iterate, Status.CONVERGED, f"residual {number(residual)} is at most {tolerance:g}"
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

    def _spent(self, iterate: Iterate | None) -> tuple[Iterate | None, Status, str]:
        """The end at the budget of evaluations: the last iterate, or the best point seen where better."""
        assert self.seen is not None
        made = f"{self.seen.limit:g} evaluations"
        best = self.seen.better_than(iterate, self.solver, self.chain.last)
        if best is not None:
            self.run.iterations += 1
            return best, Status.EVALUATION_LIMIT, f"stopped after {made}, with the best point of them"
        residual = math.nan if iterate is None else iterate.residual
        return iterate, Status.EVALUATION_LIMIT, self._limit(made, residual)

    def _limit(self, what: str, residual: float) -> str:
        unknown = math.isnan(residual)
        reached = "; its last iterate had no residual" if unknown else f" with residual {number(residual)}"
        return f"stopped after {what}{reached}: raise the budget or check the solver's parameters"

    def _conclude(self, iterate: Iterate | None, status: Status, message: str) -> Result[Any, Any]:
        elapsed = self.clock.read()
        if self.seen is not None and not self.seen.total:
            self.run.warn(
                f"the budget's evaluations did not limit {self.solver.name}: it reads the data itself and "
                "never asks the objective; limit time or iterations instead",
                identifier="budget.evaluations-not-counted",
            )
        if iterate is None or status is Status.INFEASIBLE:
            nothing = Evaluation(None, math.nan, math.nan, self.chain.last)
            return self._result(nothing, None, status, message, elapsed)
        if not self.recorder.has(self.run.iterations):
            diverged = self.recorder.evaluate(iterate, self.run.iterations, elapsed)
            if diverged:
                status, message = Status.DIVERGED, diverged
        evaluated, detail, note = self.recorder.keep(iterate)
        near = _ITS_OWN_END if status is Status.FINISHED else 0.0
        if status.complete and (left := self._set_left(evaluated, near)) is not None:
            status, message = Status.STALLED, f"{message}, but {self._outside(left, evaluated.violation)}"
        self.kept = evaluated
        self._look_around(evaluated.given, status)
        if note and self.report:
            self.run.findings += self.solver.remarks(self.problem, evaluated, self.recorder.last)
        return self._result(evaluated, detail, status, message + note, elapsed)

    def _set_left(self, evaluated: Evaluation, near: float) -> ConstraintSet | None:
        """The set that a point of arrays lies outside of, by more than tolerances and `near` allow."""
        last, point = self.chain.last, evaluated.given
        if not isinstance(last, Composite | Projection) or not isinstance(point, np.ndarray):
            return None
        size = max(1.0, float(np.max(np.abs(point), initial=0.0)))
        if last.violation(point) <= max(FEASIBLE, self.budget.tolerance, near) * size:
            return None
        return last.onto if isinstance(last, Projection) else last.over

    def _outside(self, over: ConstraintSet, violation: float) -> str:
        """How far an answer lies outside, and why; a finding where the set alone is no reason."""
        from optiframe.problems.sets.intersection import Intersection

        far = f"the answer violates the constraints by {number(violation)}"
        if isinstance(over, Intersection) or not over.offers(ConstraintSet.project):
            return f"{far}: the sets may touch in a point only, or not at all"
        text = f"{self.solver.name} left the set {over.name!r}: {far}. Take another solver."
        self.run.findings.append(Finding("error", text, identifier="solver.left-the-set"))
        return f"{far}: the solver left the set {over.name!r}"

    def _result(
        self, evaluated: Evaluation, detail: Any, status: Status, message: str, elapsed: float
    ) -> Result[Any, Any]:
        solution = evaluated.solution
        findings: tuple[Finding, ...] = tuple(self.run.findings)
        metrics: dict[str, float] = {}
        if solution is not None and self.report:
            own = getattr(detail, "diagnose", None)
            asked = [(type(detail).__name__, own)] if callable(own) else []
            for owner, diagnose in (*asked, (self.problem.name, partial(self.problem.diagnose, solution))):
                try:
                    findings += tuple(map(_finding, diagnose()))
                except Exception as error:  # somebody's code: the answer must not be lost
                    findings += (_not_judged(f"{owner}: diagnose()", error),)
            try:
                metrics = metrics_of(self.problem, solution)
            except Exception as error:
                findings += (_not_judged(f"{self.problem.name}: metrics()", error),)
        return Result(
            solution=solution,
            detail=detail,
            status=status,
            message=message,
            objective=evaluated.objective,
            violation=evaluated.violation,
            metrics=metrics,
            findings=findings,
            iterations=self.run.iterations,
            time=elapsed,
            setup=self.setup,
            evaluation_time=self.recorder.seconds,
            trace=self.recorder.trace,
            settings=self._settings() if self.report else {},
            evaluated=evaluated.problem,
            problem=self.problem,
            history=Trace() if self.seen is None else self.seen.history,
        )

    def _settings(self) -> dict[str, Any]:
        from optiframe.registry.versions import versions_of

        return {
            "problem": self.problem.name,
            "solver": {"name": self.solver.name, **self.solver.model_dump()},
            "seed": self.seed,
            "budget": self.budget.model_dump(),
            "versions": {"python": platform.python_version(), **versions_of(self.solver)},
        }


def _finding(given: Any) -> Finding:
    if not isinstance(given, Finding):
        raise TypeError(f"{given!r:.60} is no Finding")
    return given


def _not_judged(method: str, error: Exception) -> Finding:
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    raised = (
        str(error) if isinstance(error, BrokenPlugin) else f"{method} raised {what} at {innermost(error)}"
    )
    return Finding("error", f"{raised}. The answer is kept.", identifier="answer.not-judged")


def _kind(thing: Any) -> str:
    """What `iterates` gave in place of a generator, and what to write."""
    if isinstance(thing, AsyncGenerator | Coroutine):
        return "one that is awaited; write def instead of async def"
    remedy = "yield from it" if isinstance(thing, Iterable) else "yield each Iterate"
    return f"a {type(thing).__name__}; {remedy}"
