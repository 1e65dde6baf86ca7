"""The fresh process that runs one cell: it is asked on standard input and leaves its outcome in a file.

Not for people: `optiframe.comparison.isolation.run_isolated` starts, watches and ends it.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import platform
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from optiframe.comparison.copies import Copies
from optiframe.comparison.records import Limits, Outcome, Request
from optiframe.comparison.wire import STACKS, Board, clipped, plain, read_request, write_reply
from optiframe.errors import InvalidInput, OptiframeError, Unsuited
from optiframe.results import Result, Status

_LAST_LOOK = 0.1  # seconds before the hard limit at which the stack of whatever hangs is written down
_SHORT = 0.05  # seconds of a solve in which being observed may show in its time
_CALL = 1e-6  # seconds that counting one evaluation may cost
_VISIBLE = 0.02  # share of the time from which that cost matters: a fifth of what we may be wrong by


def main() -> None:
    """Run the cell that standard input asks for, and end the process."""
    try:
        request, folder, deadline = read_request(sys.stdin.buffer)
    except EOFError:  # whoever asked is gone
        os._exit(1)
    _settle(folder, deadline)
    cell = _Cell(request, Board(folder), deadline)
    del request  # the cell lets go of the pickled objects when it has made them
    outcome = cell.outcome()
    cell.board.stage("writing its outcome")
    try:
        write_reply(outcome, folder)
    except OSError as error:
        print(
            f"the outcome ({outcome.status}) cannot be written to {folder}: {error.strerror}; make room "
            "there, or set TMPDIR to another folder",
            file=sys.__stderr__,
            flush=True,
        )
        os._exit(1)
    # No more of the solver's code runs: neither what it registered for the end, nor its threads.
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # it may have been closed or replaced
            stream.flush()
    os._exit(0)


def _settle(folder: Path, deadline: float) -> None:
    """Stacks go to a file of their own, standard input is empty, the system sacrifices us first."""
    stacks = (folder / STACKS).open("w", encoding="utf-8")
    faulthandler.enable(stacks)
    left = deadline - time.monotonic()
    faulthandler.dump_traceback_later(max(0.9 * left, left - _LAST_LOOK, 0.01), file=stacks)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    with suppress(OSError):  # Linux: when memory runs out it is the cell that ends, not who watches it
        Path("/proc/self/oom_score_adj").write_text("1000")


class _Cell:
    """One request on its way to an outcome; `stage` says where it is when something goes wrong."""

    def __init__(self, request: Request, board: Board, deadline: float) -> None:
        self.request, self.board, self.deadline = request, board, deadline
        self.known: dict[str, Any] = {}  # what goes into the outcome whatever happens
        self.stage = "starting"
        self.made_in_python = request.objects is not None

    def outcome(self) -> Outcome:
        """What came of it; whatever the cell's code raises is an outcome as well."""
        try:
            return self._run()
        except MemoryError as error:
            limit = self.request.limits.memory
            said = _said(error)
            bound = "" if limit is None else f" with a limit of {limit / 1e6:g} MB"
            return self._failed(Status.OUT_OF_MEMORY, f"memory ran out{bound}{said and ': '}{said}")
        except InvalidInput as error:
            at = f"{self.request.where}: " if self.request.where and self.stage == "loading" else ""
            return self._failed(Status.ERROR, f"{at}{error}")
        except Unsuited as error:
            if self.stage in ("warming up", "solving") and self.board.read()[1] == 0:
                return self._finish(Outcome(Status.UNSUITED, str(error)))  # found out by looking closer
            return self._failed(Status.ERROR, f"Unsuited: {error}")
        except OptiframeError as error:
            return self._failed(Status.ERROR, f"{type(error).__name__}: {error}")
        except BaseException as error:  # sys.exit, too: nothing a solver does may go unreported
            said = _said(error)
            return self._failed(Status.ERROR, f"{type(error).__name__}{': ' if said else ''}{said}")

    def _failed(self, status: Status, message: str) -> Outcome:
        if self.stage not in ("solving", "loading"):
            message = f"while {self.stage}: {message}"
        return self._finish(Outcome(status, message, traceback=traceback.format_exc()))

    def _finish(self, outcome: Outcome) -> Outcome:
        from optiframe.comparison.memory import peak_of_this_process

        return replace(outcome, memory=peak_of_this_process(), **self.known)

    def _at(self, stage: str) -> None:
        self.stage = stage
        self.board.stage(stage)

    def _run(self) -> Outcome:
        began = time.perf_counter()
        self._at("loading")
        problem, solver = self._load()
        self.known["loading"] = time.perf_counter() - began
        self.known["better"] = dict(type(problem).better)
        reason = self._why_unsuited(problem, solver)
        if reason is not None:
            return self._finish(Outcome(Status.UNSUITED, reason))
        copies = Copies(problem, dynamic=self.made_in_python)
        if self.request.measure.warmup:
            self._warm_up(copies.fresh(), solver)
        return self._finish(self._measure(copies, solver))

    def _load(self) -> tuple[Any, Any]:
        """The problem and the solver, with everything they import."""
        from optiframe import api
        from optiframe.bring import bring
        from optiframe.errors import require
        from optiframe.parts import versions_of
        from optiframe.values import paths_relative_to

        request = self.request
        sys.path.extend(folder for folder in request.path if folder not in sys.path)
        _limit_memory(request.limits)
        for module in request.modules:
            bring(module)
        made: Mapping[str, Any] = {}
        if request.objects is not None:
            require("cloudpickle", "compare")
            import pickle

            made = pickle.loads(request.objects, buffers=request.buffers)  # from our parent's pipe
            self.request = replace(request, objects=None, buffers=())
        solver = made.get("solver")
        if solver is None:
            solver = api.solver(**(request.solver or {}))
        self.known["versions"] = {"python": platform.python_version(), **versions_of(solver)}
        problem = made.get("problem")
        if problem is None:
            with paths_relative_to(Path(request.folder)):
                problem = api.problem(**(request.problem or {}))
        _limit_threads(request.limits)
        self.known["environment"] = _environment(request.limits)
        return problem, solver

    def _why_unsuited(self, problem: Any, solver: Any) -> str | None:
        from optiframe.chain import why_unsuited

        return why_unsuited(problem, solver)

    def _warm_up(self, problem: Any, solver: Any) -> None:
        """A solve of one iteration: what is imported or compiled on first use is there afterwards."""
        from optiframe.solvers import Budget

        self._at("warming up")
        began = time.perf_counter()
        given = self.request.budget
        brief = Budget(iterations=1, **{k: v for k, v in given.items() if k != "iterations"})
        self._solve(problem, solver, brief, trace=True)
        self.known["warmup"] = time.perf_counter() - began
        self.board.warmed_up(self.known["warmup"])
        _limit_threads(self.request.limits)  # of libraries that have only just been loaded
        self.known["environment"] = _environment(self.request.limits)

    def _measure(self, copies: Copies, solver: Any) -> Outcome:
        from optiframe.comparison.counting import counted
        from optiframe.comparison.repeats import go_on
        from optiframe.solvers import Budget

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
            copies.fresh(), solver, budget, trace=True, observe=observe if measure.count else None
        )
        evaluations = {kind: float(number) for kind, number in counts.items()}
        outcome = self._first(first, evaluations)
        observed = first.time < _SHORT or sum(evaluations.values()) * _CALL > _VISIBLE * first.time
        # The first solve is the one that is observed; it is one of the timed only if that cannot show.
        times, cpus, costs = ([], [], [cost]) if observed else ([first.time], [first_cpu], [cost])
        findings, same = list(outcome.findings), True
        while go_on(times, measure.repeat, costs=costs, left=self.deadline - time.monotonic()):
            self._at(f"solving, repeat {len(costs)}")
            again, cpu, cost = self._timed(copies.fresh(), solver, budget, trace=False)
            same = same and not _differs(first, again)
            times.append(again.time)
            cpus.append(cpu)
            costs.append(cost)
        if not same:
            findings.append(_DIFFERENT)
        if not times:
            times, cpus = [first.time], [first_cpu]
        if measure.repeat != "auto" and len(times) < measure.repeat:
            findings.append(_note(f"timed {len(times)} of {measure.repeat} times: the hard limit was near"))
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
        from optiframe.loop import solve_watched

        return solve_watched(problem, solver, seed=self.request.seed, budget=budget, watch=self.board, **how)

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
                {"level": found.level, "text": found.text, "about": plain(found.about)}
                for found in result.findings
            ),
            solved=result.solved,
            iterations=result.iterations,
            setup=result.setup,
            judging=result.judging,
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


def _note(text: str) -> Mapping[str, Any]:
    return {"level": "note", "text": text, "about": []}


_DIFFERENT: Mapping[str, Any] = {
    "level": "warning",
    "text": "the same seed gave different answers when the solve was repeated",
    "about": [],
}


def _differs(first: Result[Any, Any], again: Result[Any, Any]) -> bool:
    """Whether two solves with one seed ended differently; at a time limit that is to be expected."""
    if Status.TIME_LIMIT in (first.status, again.status):
        return False
    # As text, in which nan equals nan; every bit of a number shows in it.
    return _end(first) != _end(again)


def _end(result: Result[Any, Any]) -> str:
    metrics = {name: float(value) for name, value in result.metrics.items()}
    return repr((result.status, float(result.objective), metrics))


def _said(error: BaseException) -> str:
    """What an exception says; one whose text raises says nothing."""
    try:
        return str(error)
    except Exception:  # its type is told all the same, and the traceback is kept
        return ""


def _cpu_seconds() -> float:
    import resource

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def _limit_memory(limits: Limits) -> None:
    if limits.memory is not None:
        from optiframe.comparison.memory import refuse_more_than

        refuse_more_than(limits.memory)


def _limit_threads(limits: Limits) -> None:
    from optiframe.errors import require

    require("threadpoolctl", "compare").threadpool_limits(limits.threads)


def _environment(limits: Limits) -> dict[str, Any]:
    """Interpreter, machine and linear algebra, as this process has them."""
    from optiframe.comparison.environment import cpu_model
    from optiframe.errors import require

    pools = require("threadpoolctl", "compare").threadpool_info()
    kept = ("user_api", "internal_api", "version", "architecture", "threading_layer", "num_threads")
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": cpu_model(),
        "threads": limits.threads,
        "libraries": [{key: plain(pool[key]) for key in kept if key in pool} for pool in pools],
    }


if __name__ == "__main__":
    main()
