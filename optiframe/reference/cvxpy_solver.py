"""CVXPY as a solver of every problem that can be written as a convex program."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

from pydantic import Field, field_validator

from optiframe.errors import InvalidInput, MissingPackage, nearest, require
from optiframe.problems.problem import Problem
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

# What each engine calls its own time limit, in seconds; the others run to their end.
_TIME_LIMITS = {
    "CLARABEL": "time_limit",
    "HIGHS": "time_limit",
    "OSQP": "time_limit",
    "SCS": "time_limit_secs",
}


@dataclass(frozen=True)
class CvxpyDetail:
    """What CVXPY reports: its status, the engine it used, the optimal value of the program
    in the problem's terms, and the engine's own iterations (nan when not told)."""

    status: str
    engine: str
    value: float
    iterations: float


class Cvxpy(Solver[Problem[Any], Any, CvxpyDetail]):
    """CVXPY: modelling layer and engine in one step, accurate rather than fast.

    Needs a problem whose `as_cvxpy` gives a program. A black box: one iterate, at the end;
    its engine counts its own steps. The time budget goes to the engines known to take one.
    """

    name = "cvxpy"
    requires = ("cvxpy", "clarabel")
    solves = Problem
    uses = ()  # the program says it all
    one_shot = True
    point_type = object  # the program's `read` makes the point, whatever it is
    residual_meaning = "not computed, unless a set judges answers exactly; the engine's own tolerances decide"
    reference = "Diamond, Boyd (2016), CVXPY: A Python-embedded modeling language for convex optimization"

    engine: str | None = Field(
        default=None,
        description="CVXPY's name of a solver; none: CLARABEL, or CVXPY's choice where that cannot",
    )

    @field_validator("engine")
    @classmethod
    def _installed(cls, engine: str | None) -> str | None:
        if engine is None:
            return None
        known = sorted(require("cvxpy", "reference").installed_solvers())
        if engine.upper() not in known:
            raise InvalidInput(
                f"no engine {engine!r} is installed{nearest(engine.upper(), known)} "
                f"(installed: {', '.join(known)})"
            )
        return engine.upper()

    def iterates(self, problem: Problem[Any], run: Run) -> Iterates:
        return cvxpy_iterates(problem, run, self.engine)

    def unsuited(self, problem: Problem[Any]) -> str | None:
        return why_no_program(problem)


def cvxpy_iterates(
    problem: Problem[Any], run: Run, engine: str | None, options: dict[str, Any] | None = None
) -> Iterates:
    """One iterate: the answer of a problem's CVXPY program by an engine, with its options.

    Without an engine, CLARABEL or CVXPY's choice where that cannot.
    """
    cp = require("cvxpy", "reference")
    convex = problem.as_cvxpy()
    assert convex is not None  # else `unsuited` said so
    program = convex.program
    engine = engine or convex.engine or _accurate_engine(cp, program)
    options = dict(options or {})
    if run.budget.time is not None and engine in _TIME_LIMITS:
        left = run.time_left()
        if left == 0:  # which engines take for no limit
            return Status.TIME_LIMIT, "the time was used up before the engine began"
        options[_TIME_LIMITS[engine]] = left
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            program.solve(solver=engine, **options)
        except cp.error.SolverError as error:
            return Status.STALLED, f"CVXPY: {error}"
        except ValueError as error:  # it cannot read the answer, and prints all of it
            return Status.STALLED, f"CVXPY: {str(error).partition(': ')[0]}"
    if "inaccurate" in program.status:
        text = f"CVXPY: the answer is inaccurate ({program.status}); try another engine"
        run.warn(text, identifier="cvxpy.inaccurate")
    elif program.status == cp.OPTIMAL:
        for warning in said:
            run.warn(f"CVXPY: {warning.message}", identifier="cvxpy.warning")
    if program.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
        return Status.INFEASIBLE, f"CVXPY: the program is {program.status}"
    if program.status in (cp.UNBOUNDED, cp.UNBOUNDED_INACCURATE, "infeasible_or_unbounded"):
        return Status.DIVERGED, f"CVXPY: the program is {program.status}"
    if program.value is None or not math.isfinite(program.value):
        return Status.STALLED, f"CVXPY: the engine ended with {program.status} and no answer"
    stats = program.solver_stats
    iterations = float("nan") if stats.num_iters is None else float(stats.num_iters)
    detail = CvxpyDetail(
        status=program.status,
        engine=stats.solver_name,
        value=convex.objective(float(program.value)),
        iterations=iterations,
    )
    answer, residual, loss = convex.read(), math.nan, ""
    if convex.judge is not None:
        residual, loss = convex.judge(answer)
    if loss:
        run.warn(loss, identifier=f"{problem.name}.not-proved-best")
    yield Iterate(answer, residual=residual, detail=detail)
    if "inaccurate" in program.status and run.time_left() == 0:
        return Status.TIME_LIMIT, f"CVXPY: {detail.engine} says {detail.status} at the time limit"
    return Status.FINISHED, f"CVXPY: {detail.engine} says {detail.status}"


def why_no_program(problem: Problem[Any]) -> str | None:
    """Why a problem cannot go to CVXPY, in words; None when it can."""
    try:
        convex = problem.as_cvxpy()
    except MissingPackage as error:
        return str(error)
    if convex is None:
        return "it has no CVXPY program (not convex, or nobody wrote one)"
    if not convex.program.is_dcp():
        return "its program is not convex by CVXPY's rules"
    if not any(variable.size for variable in convex.program.variables()):
        return "the point has no entries, so that its program has no variables"
    return None


def _accurate_engine(cp: Any, program: Any) -> str | None:
    """CLARABEL, an interior-point method for every continuous cone program; else CVXPY's choice.

    CVXPY itself would take OSQP for quadratic programs, which stops at a residual of 1e-5:
    too coarse for a yardstick.
    """
    return "CLARABEL" if "CLARABEL" in cp.installed_solvers() and not program.is_mixed_integer() else None
