"""Cells one after the other in this process, for items of many small cells that claim nothing about time.

A process of its own costs a cell about 0.7 s of processor time, most of it imports; the cells of some items
take milliseconds, and there are a thousand of them. The answers are the same, bit by bit. What is lost is
what isolation is for: limits of time and memory, and a crash ends the run (which resumes).
"""

from __future__ import annotations

import json
import time
import traceback
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import optiframe
from optiframe.comparison.cells import Request
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.executor import Tell
from optiframe.records.fields import paths_relative_to
from optiframe.solving.chain import why_unsuited
from optiframe.solving.result import Status


class Inside:
    """An executor without processes; an item asks for it by ``INSIDE = True``."""

    def run(self, requests: Iterator[Request], tell: Tell | None = None) -> Iterator[tuple[Request, Outcome]]:
        """See `Executor.run`."""
        for request in requests:
            try:
                outcome = _outcome(request)
            except Exception as error:  # a row with its reason, as in a process of its own
                said = f"{type(error).__name__}: {error}"
                outcome = Outcome(Status.ERROR, said, traceback=traceback.format_exc())
            yield request, outcome

    def close(self) -> None:
        """Nothing to end."""


def _outcome(request: Request) -> Outcome:
    problem = _problem(json.dumps(request.problem, sort_keys=True), request.folder)
    solver = optiframe.solver(**(request.solver or {}))
    reason = why_unsuited(problem, solver)
    if reason is not None:
        return Outcome(Status.UNSUITED, reason)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)  # the status says it
        result = optiframe.solve(
            problem, solver, seed=request.seed, budget=dict(request.budget), progress=False
        )
    return Outcome(
        result.status,
        result.message,
        objective=float(result.objective),
        violation=float(result.violation),
        metrics={name: float(value) for name, value in result.metrics.items()},
        findings=tuple({"level": each.level, "text": each.text, "about": []} for each in result.findings),
        solved=result.solved,
        iterations=result.iterations,
        time=result.time,
        times=(result.time,),
        setup=result.setup,
        evaluation_time=result.evaluation_time,
        cpu=time.process_time() - began,
        trace={name: [float(value) for value in result.trace[name]] for name in result.trace.names},
        better=dict(type(problem).better),
    )


@lru_cache(maxsize=4)
def _problem(table: str, folder: str) -> Any:
    with paths_relative_to(Path(folder)):
        return optiframe.problem(**json.loads(table))
