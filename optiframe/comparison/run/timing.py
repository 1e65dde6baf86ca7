"""The solves of one cell that are timed: the first one with its trace and counts, then repeats."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from optiframe.comparison.cells import Request
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.copies import Copies
from optiframe.comparison.run.repeats import SHORT, agree, is_another_wanted
from optiframe.comparison.run.wire import Board, clipped
from optiframe.files.plain import plain
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.solving.result import Result, Status

if TYPE_CHECKING:
    from optiframe.solving.runner import Runner

_CALL = 1e-6  # seconds that counting one evaluation may cost
_VISIBLE = 0.02  # share of the time from which that cost matters: a fifth of what we may be wrong by


class TimedSolves:
    """What a request asks to be measured.

    `at` gets where we are, for when something goes wrong, and `keep` is given the first solve, whose
    answer counts, as soon as it has ended.
    """

    def __init__(
        self,
        request: Request,
        board: Board,
        deadline: float,
        at: Callable[[str], None],
        keep: Callable[[Runner], None],
    ) -> None:
        self.request, self.board, self.deadline = request, board, deadline
        self._at, self._keep = at, keep

    def outcome(self, copies: Copies, solver: Any) -> Outcome:
        """Solve until the times are known well enough; `copies` gives a fresh problem to each solve."""
        from optiframe.solving.budget import Budget
        from optiframe.solving.counting import counted

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

        first = self._timed(
            copies.fresh(), solver, budget, record=True, observe=observe if measure.count else None
        )
        self._keep(first.runner)
        evaluations = {kind: float(number) for kind, number in counts.items()}
        outcome = self._first(first.runner, first.result, evaluations)
        taken = first.result.time
        observed = taken < SHORT or sum(evaluations.values()) * _CALL > _VISIBLE * taken
        # The first solve is the one that is observed; it is one of the timed only if that cannot show.
        timed, costs, same = [] if observed else [first], [first.cost], True
        times = [one.result.time for one in timed]
        while is_another_wanted(times, measure.repeat, costs=costs, left=self.deadline - time.monotonic()):
            self._at(f"solving, repeat {len(costs)}")
            again = self._timed(copies.fresh(), solver, budget, record=False)
            same = same and not _differs(first.result, again.result)
            timed.append(again)
            times.append(again.result.time)
            costs.append(again.cost)
        times = times or [taken]
        middle = median(times)
        return replace(
            outcome,
            findings=(*outcome.findings, *map(asdict, _remarks(times, measure.repeat, same))),
            times=tuple(times),
            time=middle,
            cpu=median(one.cpu for one in timed or [first]),
            trace=_on_the_clock_of(middle, taken, outcome.trace),
            # What ends by the clock may end elsewhere next time, whatever the seed.
            seed_matters=first.runner.run.drew or budget.time is not None or not same,
        )

    def _timed(self, problem: Any, solver: Any, budget: Any, **how: Any) -> _Timed:
        from optiframe.solving.runner import Runner

        started = time.perf_counter()
        gc.collect()  # garbage of what ran before is not this solve's to collect
        cpu = _cpu_seconds()
        runner = Runner(problem, solver, seed=self.request.seed, budget=budget, watch=self.board, **how)
        result = runner.result()
        return _Timed(runner, result, _cpu_seconds() - cpu, time.perf_counter() - started)

    def _first(self, runner: Runner, result: Result[Any, Any], evaluations: Mapping[str, float]) -> Outcome:
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
            history=_history(runner, result),
        )


def _history(runner: Runner, result: Result[Any, Any]) -> Mapping[str, list[float]]:
    """Merits by evaluation, from that of the start on; empty where evaluations are not limited."""
    if not len(result.history):
        return {}
    from optiframe.solving.counting import merit_of

    problem: Any = runner.chain.last
    start = problem.initial()
    first = merit_of(problem)(float(problem.objective(start)), float(problem.violation(start)))
    each = math.prod(problem.function.shape) + 1
    evaluations = [0.0, *result.history["evaluations"]]
    return {
        "evaluations": evaluations,
        "per_variable": [number / each for number in evaluations],
        "merit": [first, *result.history["merit"]],
    }


@dataclass(frozen=True)
class _Timed:
    """A solve with its CPU seconds (of processes it started and waited for, too) and whole seconds."""

    runner: Runner
    result: Result[Any, Any]
    cpu: float
    cost: float


def _remarks(times: list[float], repeat: int | str, same: bool) -> Iterator[Finding]:
    """What is wrong with the repeats."""
    if not same:
        yield _DIFFERENT
    if repeat != "auto" and len(times) < int(repeat):
        text = f"timed {len(times)} of {repeat} times: the hard limit was near"
        yield Finding("note", text, identifier="cell.fewer-repeats")
    if repeat == 1 and median(times) < SHORT and not agree(times):
        low, high = (1e3 * end for end in (min(times), max(times)))
        text = (
            f"Its time is unstable: {len(times)} solves took between {number(low)} and {number(high)} ms. "
            'Set repeat = "auto" for a better estimate.'
            if len(times) > 1
            else 'Its time was measured once and may be far off. Set repeat = "auto" for a better estimate.'
        )
        yield Finding("note", text, identifier="cell.unstable-time")


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
