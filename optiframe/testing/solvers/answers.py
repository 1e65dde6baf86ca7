"""The part of a solver's contract that concerns its answer; the rest is in `checks`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.errors import OptiframeError
from optiframe.numbers import number
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Problem
from optiframe.records.record import Record
from optiframe.solving.chain import Chain
from optiframe.solving.result import Status
from optiframe.testing.cases import AnyProblem, Case, NotApplicable


def check_answer_is_feasible(case: Case) -> None:
    """The answer satisfies the constraints within the tolerance."""
    result = case.solve()
    if result.solution is None:
        raise NotApplicable(f"there was no answer ({result.status})")
    if not result.violation <= case.tolerance:
        case.fail(f"the answer is {number(result.violation)} outside the constraints ({result.status})")
    if all(type(problem).violation is Problem.violation for problem in _problems(case)):
        raise NotApplicable("the problem has no constraints")


def check_answer_is_finite(case: Case) -> None:
    """No number of the answer is infinite or nan."""
    result = case.solve()
    arrays = list(_arrays(result.solution))
    if any(not np.isfinite(array).all() for array in arrays):
        case.fail(f"the answer has entries that are not finite ({result.status})")
    if math.isinf(result.objective):
        case.fail(f"the objective of the answer is {result.objective}")
    if result.solution is None:
        raise NotApplicable(f"there was no answer ({result.status})")
    if not arrays:
        raise NotApplicable("the answer holds no numbers that could be infinite or nan")


def check_reaches_the_known_optimum(case: Case) -> None:
    """Where the optimum is known, the answer has it, within the tolerance of the case.

    Where a slow method may run out of its budget (`Case.may_run_out`), an answer that is not said
    to be converged, or finished, may fall short.
    """
    if case.optimum is None:
        raise NotApplicable("the optimum of the problem is not known")
    result = case.solve()
    if result.objective - case.optimum <= case.tolerance * max(1.0, abs(case.optimum)):
        return
    if case.may_run_out and result.status.short:
        return
    hint = ""
    if result.status is Status.CONVERGED and result.trace["residual"][-1] <= case.budget.tolerance:
        hint = "; its residual must be that of the point it yields, and small at the optimum only"
    elif result.status.complete:
        hint = '; where it gives up short of the optimum, it must return Status.STALLED, "why"'
    case.fail(
        f"the objective is {result.objective:.8g}, the optimum {case.optimum:.8g} "
        f"({result.status}: {result.message}){hint}"
    )


def check_is_better_than_doing_nothing(case: Case) -> None:
    """The answer is better than the point a solver begins with, unless that is optimal."""
    chain = Chain.reach(case.problem, case.solver)
    problem = chain.last
    if not isinstance(problem, Minimize):
        raise NotApplicable("the problem does not say where a solver begins; only a `minimize` does")
    start = problem.initial()
    idle = chain.evaluate(start)
    optimal = case.optimum is not None and idle.objective - case.optimum <= case.tolerance
    if optimal or _is_stationary(problem, start, case.tolerance):
        raise NotApplicable("the point a solver begins with is optimal already, or nearly so")
    result = case.solve()
    if result.solution is None:
        if result.status is Status.INFEASIBLE and idle.violation <= case.tolerance:
            case.fail(f"it says {result.status}, and the point a solver begins with is feasible")
        raise NotApplicable(f"there was no answer ({result.status})")
    if result.solved != idle.problem.fingerprint():
        raise NotApplicable(
            "the solver's answer and its start belong to problems with different objectives, so "
            "their values cannot be compared"
        )
    if not result.objective < idle.objective:
        case.fail(
            f"the objective {result.objective:.8g} is no better than that of the start, {idle.objective:.8g}"
        )


def check_is_better_than_chance(case: Case) -> None:
    """The answer scores better than one that never looked at the data, where the truth is known.

    What such an answer scores the problem says (`Problem.baseline_metrics`), and which direction is better. A
    run that ends at a limit, or stalled, has not claimed to be done: nothing is held against it.
    """
    bars = case.problem.baseline_metrics()
    if not bars:
        raise NotApplicable("the problem knows no truth, or does not say what chance would score")
    if case.no_better_than_chance:
        raise NotApplicable(case.no_better_than_chance)
    result = case.solve()
    if result.solution is None:
        raise NotApplicable(f"there was no answer ({result.status})")
    scores = {name: bar for name, bar in bars.items() if name in result.metrics}
    if not scores:
        raise NotApplicable(f"the answer has no {' and no '.join(bars)}")
    for name, bar in scores.items():
        reached = result.metrics[name]
        if not (reached < bar if case.problem.better[name] == "lower" else reached > bar):
            text = (
                f"the {name} is {reached:.4g}, no better than the {bar:.4g} of an answer "
                f"that never looked at the data ({result.status})"
            )
            if result.status.short:
                raise NotApplicable(f"the run says that it fell short; {text}")
            case.fail(text)


def _problems(case: Case) -> tuple[AnyProblem, ...]:
    """The problem and those it is formulated as, down to the one the solver takes."""
    return tuple(Chain.reach(case.problem, case.solver).problems)


def _is_stationary(problem: Minimize, x: Any, tolerance: float) -> bool:
    """Whether no projected gradient step leads away from `x`; False when it cannot be told."""
    if problem.point_type is not np.ndarray:
        return False  # only arrays are sure to add up
    try:
        ahead = problem.over.project(x - problem.function.gradient(x))
    except OptiframeError:
        return False
    return bool(np.max(np.abs(np.asarray(x) - ahead), initial=0.0) <= tolerance)


def _arrays(value: Any) -> Iterator[Any]:
    """Every array of floats inside an answer."""
    if sp.issparse(value):
        yield value.data
    elif isinstance(value, float | np.floating):
        yield np.asarray(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            yield value
    elif isinstance(value, Record):
        for key in type(value).model_fields:
            yield from _arrays(getattr(value, key))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for part in dataclasses.fields(value):
            yield from _arrays(getattr(value, part.name))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _arrays(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _arrays(part)
