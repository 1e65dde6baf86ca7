"""`solve`: what the caller sees of a run; `runner.py` is the run itself."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.notebook import in_notebook
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.problem import Problem
from optiframe.solving import construct
from optiframe.solving.budget import Budget
from optiframe.solving.interrupt import first_interrupt
from optiframe.solving.progress import Progress
from optiframe.solving.recommend import recommend
from optiframe.solving.result import Result, Status
from optiframe.solving.runner import Runner
from optiframe.solving.solver import Solver


class NotConverged(UserWarning):
    """A limit ended the run before the solver did."""


def solve(
    problem: Problem[Any],
    solver: str | Solver[Any, Any, Any] | None = None,
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
        A registered name, with its parameters as further keywords, or a solver object. None takes
        the one that the problem recommends for its data; a finding says which and why.
    seed
        Fixes every random choice: same seed, same answer, on one machine and thread count.
    budget
        Limits on time, iterations, evaluations and residual; a `Budget` or the same keys in a mapping.
    start
        Where to begin, in the problem's own terms, for solvers that accept one.
    progress
        A progress bar on standard error after one second, where that is a terminal.
    trace
        False records nothing on the way; the last iterate is always evaluated, and a solver that
        is not monotone is evaluated on the way all the same, so that the best is kept.

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
    recommended = None
    if solver is None:
        recommended = recommend(problem)
        solver = recommended.solver
    elif isinstance(solver, str):
        solver = construct.solver(solver, **parameters)
    elif parameters:
        raise InvalidInput(
            f"parameters ({', '.join(parameters)}) go with a solver's name; "
            "a solver object already has its own"
        )
    limits = budget if isinstance(budget, Budget) else Budget(**(budget or {}))
    with first_interrupt() as stop:
        result = Runner(
            problem,
            solver,
            seed=whole_seed(seed),
            budget=limits,
            start=start,
            record=trace,
            stop=stop,
            watch=Progress(solver.name, limits)
            if progress and (sys.stderr.isatty() or in_notebook())
            else None,
        ).result()
    if recommended is not None:
        result = recommended.noted(result)
    if result.status.short or result.status is Status.DIVERGED:
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
    if callable(problem) and not isinstance(problem, Problem | type):
        raise InvalidInput(
            "a function is not a problem; say the shape of its points: "
            "optiframe.Minimize(optiframe.from_function(function, shape))"
        )
    if not isinstance(problem, Problem):
        raise InvalidInput(
            f"a {type(problem).__name__} is not a problem; build one, such as "
            'optiframe.problem(dataset="labels.rte") or optiframe.Minimize(objective)'
        )
    if solver is None and parameters:
        raise InvalidInput(f"parameters ({', '.join(parameters)}) go with a solver's name; give one")
    if not isinstance(solver, str | Solver | None):
        what = solver.__name__ if isinstance(solver, type) else type(solver).__name__
        raise InvalidInput(f"solver must be a name or a solver object, such as {what}(), got {solver!r:.60}")
    keyed = isinstance(budget, Mapping) and all(isinstance(key, str) for key in budget)
    if budget is not None and not isinstance(budget, Budget) and not keyed:
        raise InvalidInput(f"budget must be such as {{'iterations': 100}} or a Budget, got {budget!r:.60}")
    limits = sorted(set(parameters) & set(Budget.model_fields))
    if limits:
        raise InvalidInput(f"limits go into the budget: budget={{{limits[0]!r}: {parameters[limits[0]]!r}}}")
