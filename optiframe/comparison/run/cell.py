"""One cell on its way to an outcome: loading, warming up, solving, and whatever goes wrong meanwhile."""

from __future__ import annotations

import platform
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Limits, Request
from optiframe.comparison.plan.unchanged import DataChanged, unchanged
from optiframe.comparison.processes.memory import peak_of_this_process
from optiframe.comparison.records import Outcome
from optiframe.comparison.run import loading
from optiframe.comparison.run.copies import Copies
from optiframe.comparison.run.timing import TimedSolves
from optiframe.comparison.run.wire import Board
from optiframe.errors import InvalidInput, OptiframeError, UnknownName, Unsuited
from optiframe.files.plain import plain
from optiframe.solving.result import Status


class OneCell:
    """One request on its way to an outcome; `stage` says where it is when something goes wrong."""

    def __init__(self, request: Request, board: Board, deadline: float, folder: Path) -> None:
        self.request, self.board, self.deadline, self.folder = request, board, deadline, folder
        self.known: dict[str, Any] = {}  # what goes into the outcome whatever happens
        self.stage = "starting"
        self.made_in_python = bool(request.objects)

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
            self.known["provisional"] = isinstance(error, DataChanged)
            at = f"{self.request.where}: " if self.request.where and self.stage == "loading" else ""
            return self._failed(Status.ERROR, f"{at}{error}")
        except Unsuited as error:
            if self.stage in ("warming up", "solving") and self.board.iterations == 0:
                return self._finish(Outcome(Status.UNSUITED, str(error)))  # found out by looking closer
            return self._failed(Status.ERROR, f"Unsuited: {error}")
        except UnknownName as error:
            return self._failed(Status.ERROR, str(error))
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
        from optiframe.comparison.run.answers import Place, write_answer
        from optiframe.solving.chain import why_unsuited
        from optiframe.solving.runner import Runner

        reason = why_unsuited(problem, solver)
        if reason is not None:
            return self._finish(Outcome(Status.UNSUITED, reason))
        copies, before = Copies(problem, dynamic=self.made_in_python), problem.fingerprint()
        if self.request.measure.warmup:
            self._warm_up(copies.fresh(), solver)

        def keep(runner: Runner) -> None:
            """Leave the answer for who judges it, before another solve can change it."""
            if runner.kept is not None:
                after = copies.fresh().fingerprint()
                place = Place(len(runner.chain.steps), runner.chain.evaluated_at or 0, before, after)
                write_answer(runner.kept.given, place, self.folder)

        solves = TimedSolves(self.request, self.board, self.deadline, self._at, keep)
        return self._finish(solves.outcome(copies, solver))

    def _load(self) -> tuple[Any, Any]:
        """The problem and the solver, with everything they import."""
        from optiframe.registry.user_modules import import_user_module
        from optiframe.registry.versions import versions_of
        from optiframe.solving import construct

        request = self.request
        loading.settle(request)
        for module in request.modules:
            import_user_module(module)
        with unchanged(request.checksums, Path(request.folder), request.problem):
            solver = loading.unpickled(request, "solver")
            if solver is None:
                try:
                    solver = construct.solver(**(request.solver or {}))
                except UnknownName as error:  # messages about input begin with the problem's place
                    raise UnknownName(str(error)) from None
            self.known["versions"] = {"python": platform.python_version(), **versions_of(solver)}
            problem = loading.problem_of(request)
        self.request = replace(request, objects={})  # they are made
        loading.limit_threads(request.limits)
        self.known["environment"] = _environment(request.limits)
        return problem, solver

    def _warm_up(self, problem: Any, solver: Any) -> None:
        """A solve of one iteration: what is imported or made on first use is there afterwards."""
        from optiframe.solving.budget import Budget
        from optiframe.solving.runner import Runner

        self._at("warming up")
        began = time.perf_counter()
        given = self.request.budget
        brief = Budget(iterations=1, **{k: v for k, v in given.items() if k != "iterations"})
        Runner(problem, solver, seed=self.request.seed, budget=brief, watch=self.board).result()
        self.known["warmup"] = time.perf_counter() - began
        self.board.warmed_up(self.known["warmup"])
        loading.limit_threads(self.request.limits)  # of libraries that have only just been loaded
        self.known["environment"] = _environment(self.request.limits)


def _said(error: BaseException) -> str:
    """What an exception says; one whose text raises says nothing."""
    try:
        return str(error)
    except Exception:  # its type is reported all the same, and the traceback is kept
        return ""


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
