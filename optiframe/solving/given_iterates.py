"""What a solver gives the loop, its iterates and its verdict: as agreed, or a broken plugin."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.errors import BrokenPlugin, InvalidInput
from optiframe.problems.problem import Problem
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Solver

# A black box may end so before it has any point: no feasible one, unbounded below, it gave up,
# or it kept to a limit.
_WITHOUT_ANSWER = (
    Status.INFEASIBLE,
    Status.DIVERGED,
    Status.STALLED,
    Status.TIME_LIMIT,
    Status.ITERATION_LIMIT,
    Status.EVALUATION_LIMIT,
)


def check_iterate(thing: Any, solver: Solver[Any, Any, Any], problem: Problem[Any]) -> None:
    """Raise `BrokenPlugin` unless this is an iterate the loop can work with."""
    who = solver.name
    if not isinstance(thing, Iterate):
        raise BrokenPlugin(f"{who} yielded a {type(thing).__name__}; yield Iterate(x, ...)")
    if not isinstance(thing.steps, int | np.integer) or thing.steps < 1:
        raise BrokenPlugin(
            f"{who} yielded an Iterate of {thing.steps!r:.60} steps; a whole number of at least 1"
        )
    if np.ndim(thing.residual) or not isinstance(thing.residual, float | int | np.number):
        single = hasattr(thing.residual, "__float__") and np.size(thing.residual) == 1
        one = "; write residual=float(...)" if single else ""
        raise BrokenPlugin(
            f"{who} yielded the residual {thing.residual!r:.60}; a residual is one number{one}"
        )
    try:
        problem.check(solver.finish(problem, thing))
    except InvalidInput as error:
        raise BrokenPlugin(f"{who} does not give an answer to {problem.name!r}: {error}") from None


def verdict(value: Any, iterate: Iterate | None, solver: Solver[Any, Any, Any]) -> tuple[Status, str]:
    """What a generator returned, as status and message; `iterate` is its last. Raises `BrokenPlugin`."""
    try:
        status, message = (Status.FINISHED, "") if value is None else value
        status = Status(status)
        if status.of_comparison:
            raise ValueError(status)
    except (TypeError, ValueError):
        raise BrokenPlugin(
            f"{solver.name} ended with {value!r}; return a Status and a message, or nothing"
        ) from None
    if iterate is None and status not in _WITHOUT_ANSWER:
        raise BrokenPlugin(
            f"{solver.name} ended ({status}) without an iterate"
            f"{': ' + message if message else ''}; yield an Iterate first: only "
            f"{', '.join(_WITHOUT_ANSWER)} may end a run without one"
        )
    return status, message or status.meaning
