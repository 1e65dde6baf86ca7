"""The solves of one cell that are timed: the first one with its trace and counts, then repeats."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from statistics import median
from typing import Any

from optiframe.comparison.cells import Request
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.copies import Copies
from optiframe.comparison.run.wire import Board, clipped
from optiframe.files.plain import plain
from optiframe.findings import Finding
from optiframe.solving.result import Result, Status

_SHORT = 0.05  # seconds of a solve in which being observed may show in its time
_CALL = 1e-6  # seconds that counting one evaluation may cost
_VISIBLE = 0.02  # share of the time from which that cost matters: a fifth of what we may be wrong by


class TimedSolves:
    """What a request asks to be measured; `at` is told where we are, for when something goes wrong."""

    def __init__(self, request: Request, board: Board, deadline: float, at: Callable[[str], None]) -> None:
        self.request, self.board, self.deadline, self._at = request, board, deadline, at

    def outcome(self, copies: Copies, solver: Any) -> Outcome:
        """Solve until the times are told well enough; `copies` gives a fresh problem to each solve."""
        from optiframe.comparison.run.counting import counted
        from optiframe.comparison.run.repeats import is_another_wanted
        from optiframe.solving.budget import Budget

        self._at("solving")
        # Collecting garbage walks over everything there is and empties the processor's caches: 0.1 ms
        # of a 2 ms solve, examples/bench/compare_timing.py found. What is there now is left out of it.
        gc.collect()
        gc.freeze()
        measure, budget = self.request.measure, Budget(**self.request.budget)
        counts: Mapping[str, float] = {}

        def observe(given: Any) -> Any:
            nonlocal counts
            stand_in, counts = counted(given)
            return stand_in

        first, first_cpu, cost = self._timed(
            copies.fresh(), solver, budget, record=True, observe=observe if measure.count else None
        )
        evaluations = {kind: float(number) for kind, number in counts.items()}
        outcome = self._first(first, evaluations)
        observed = first.time < _SHORT or sum(evaluations.values()) * _CALL > _VISIBLE * first.time
        # The first solve is the one that is observed; it is one of the timed only if that cannot show.
        times, cpus, costs = ([], [], [cost]) if observed else ([first.time], [first_cpu], [cost])
        findings, same = list(outcome.findings), True
        while is_another_wanted(times, measure.repeat, costs=costs, left=self.deadline - time.monotonic()):
            self._at(f"solving, repeat {len(costs)}")
            again, cpu, cost = self._timed(copies.fresh(), solver, budget, record=False)
            same = same and not _differs(first, again)
            times.append(again.time)
            cpus.append(cpu)
            costs.append(cost)
        if not same:
            findings.append(asdict(_DIFFERENT))
        if not times:
            times, cpus = [first.time], [first_cpu]
        if measure.repeat != "auto" and len(times) < measure.repeat:
            text = f"timed {len(times)} of {measure.repeat} times: the hard limit was near"
            findings.append(asdict(Finding("note", text, identifier="cell.fewer-repeats")))
        middle = median(times)
        return replace(
            outcome,
            findings=tuple(findings),
            times=tuple(times),
            time=middle,
            cpu=median(cpus),
            trace=_on_the_clock_of(middle, first.time, outcome.trace),
        )

    def _timed(
        self, problem: Any, solver: Any, budget: Any, **how: Any
    ) -> tuple[Result[Any, Any], float, float]:
        """A solve with its CPU seconds (of processes it started and waited for, too) and whole seconds."""
        gc.collect()  # garbage of what ran before is not this solve's to collect
        began, cpu = time.perf_counter(), _cpu_seconds()
        result = self._solve(problem, solver, budget, **how)
        return result, _cpu_seconds() - cpu, time.perf_counter() - began

    def _solve(self, problem: Any, solver: Any, budget: Any, **how: Any) -> Result[Any, Any]:
        from optiframe.solving.runner import Runner

        runner = Runner(problem, solver, seed=self.request.seed, budget=budget, watch=self.board, **how)
        return runner.result()

    def _first(self, result: Result[Any, Any], evaluations: Mapping[str, float]) -> Outcome:
        status, message = result.status, result.message
        if status is Status.CANCELLED:  # of a comparison that is the user's word: the cell would run again
            status = Status.ERROR
            message = f"the solver says it was cancelled, which only the user can say ({message})"
        return Outcome(
            status,
            clipped(message),
            objective=float(result.objective),
            violation=float(result.violation),
            metrics={str(name): float(value) for name, value in result.metrics.items()},
            findings=tuple(
                {
                    "level": found.level,
                    "text": found.text,
                    "about": plain(found.about),
                    "identifier": found.identifier,
                }
                for found in result.findings
            ),
            solved=result.solved,
            iterations=result.iterations,
            setup=result.setup,
            evaluation_time=result.evaluation_time,
            evaluations=evaluations,
            trace={name: [float(value) for value in result.trace[name]] for name in result.trace.names},
        )


def _on_the_clock_of(
    timed: float, traced: float, trace: Mapping[str, list[float]]
) -> Mapping[str, list[float]]:
    """The trace with its times stretched to end where the timed solves did.

    The solve that is traced is slowed by being counted, one solver more than another; its
    curve must not say that a target was reached after the solver had ended.
    """
    if "time" not in trace or not traced > 0:
        return trace
    return {**trace, "time": [moment * timed / traced for moment in trace["time"]]}


_DIFFERENT = Finding(
    "warning",
    "the same seed gave different answers when the solve was repeated",
    identifier="cell.answers-differ",
)


def _differs(first: Result[Any, Any], again: Result[Any, Any]) -> bool:
    """Whether two solves with one seed ended differently; at a time limit that is to be expected."""
    if Status.TIME_LIMIT in (first.status, again.status):
        return False
    # As text, in which nan equals nan; every bit of a number shows in it.
    return _end(first) != _end(again)


def _end(result: Result[Any, Any]) -> str:
    metrics = {name: float(value) for name, value in result.metrics.items()}
    return repr((result.status, float(result.objective), metrics))


def _cpu_seconds() -> float:
    import resource

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
