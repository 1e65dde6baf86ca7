"""Checking an answer against CVXPY: same problem, another road, equal objective."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from optiframe.errors import OptiframeError, Unsuited, require
from optiframe.notebook import InNotebook
from optiframe.numbers import number
from optiframe.problems.problem import Problem
from optiframe.reference.cvxpy_solver import Cvxpy
from optiframe.solving.budget import Budget
from optiframe.solving.result import Result, Status
from optiframe.solving.solve import NotConverged, solve
from optiframe.solving.solver import Solver

Verdict = Literal["agrees", "worse", "better", "infeasible", "wrong program", "unsuited"]


@dataclass(frozen=True)
class Certificate(InNotebook):
    """How an answer compares with CVXPY's.

    `ours` and `reference` are objectives of one and the same problem, the one named
    `problem`; `gap` is ours - reference over max(1, abs(reference)); `violation` is how far
    our answer is outside the constraints; `text` says the verdict in a sentence.
    """

    verdict: Verdict
    text: str
    problem: str = ""
    ours: float = math.nan
    reference: float = math.nan
    gap: float = math.nan
    violation: float = math.nan

    def __repr__(self) -> str:
        return f"<certificate: {self.text}>"

    def in_words(self) -> list[str]:
        """The sentence of the verdict."""
        return [self.text]

    @property
    def ok(self) -> bool:
        """Whether the two agree."""
        return self.verdict == "agrees"


def check_against_cvxpy(
    solver: str | Solver[Any, Any, Any],
    problem: Problem[Any],
    *,
    tolerance: float = 1e-5,
    budget: Budget | Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Certificate:
    """Solve a small problem with a solver and with CVXPY, and insist that they agree.

    Objectives are compared, not points: where several points are optimal both are right.

    Parameters
    ----------
    solver, problem, budget, seed
        As for `optiframe.solve`.
    tolerance
        Largest gap, relative to max(1, abs(CVXPY's objective)), and largest violation.

    Raises
    ------
    AssertionError
        In words, when the answer is infeasible, worse than CVXPY's, or better (which means
        that the program is not the problem).
    Unsuited
        When neither the problem nor what it formulates to has a CVXPY program.
    MissingPackage
        When CVXPY is not installed.
    """
    require("cvxpy", "reference")
    result = _quietly(problem, solver, seed=seed, budget=budget)
    certificate = certify(result, tolerance)
    if certificate.verdict == "unsuited":
        raise Unsuited(certificate.text)
    if not certificate.ok:
        who = solver if isinstance(solver, str) else solver.name
        raise AssertionError(f"{who}: {certificate.text}")
    return certificate


def certify(result: Result[Any, Any], tolerance: float = 1e-5) -> Certificate:
    """Compare a result with CVXPY's answer to the same problem; what is wrong is reported, not raised.

    The program is that of the first problem in the chain of formulations that has one; the
    solution is carried there by `Formulation.encode`.
    """
    try:
        posed = _with_program(result)
        reference = _quietly(posed.problem, Cvxpy(), budget=Budget(iterations=None))
    except OptiframeError as error:
        return Certificate("unsuited", str(error))
    if reference.status is Status.STALLED and reference.solution is None:
        text = f"CVXPY has no answer to {posed.problem.name!r}: {reference.message}"
        return Certificate("unsuited", text, posed.problem.name)
    if result.solution is None or reference.solution is None:
        return _without_answer(posed, result, reference)
    return _compare(posed, reference, tolerance)


@dataclass(frozen=True)
class _Posed:
    """The problem that has a program, with our answer's objective and violation there."""

    problem: Problem[Any]
    objective: float = math.nan
    violation: float = math.nan


def _with_program(result: Result[Any, Any]) -> _Posed:
    problem, solution = result.problem, result.solution
    while (reason := Cvxpy().unsuited(problem)) is not None:
        step = problem.formulation
        if step is None:
            raise Unsuited(f"{result.problem.name!r} cannot be checked against CVXPY: {reason}")
        solution = None if solution is None or step.encode is None else step.encode(solution)
        problem = step.problem
    if result.solution is None:
        return _Posed(problem)
    outer = result.problem.violation(result.solution)
    if solution is not None:
        return _Posed(problem, problem.objective(solution), max(outer, problem.violation(solution)))
    if result.solved == problem.fingerprint():  # not carried inward, but judged there by the loop
        return _Posed(problem, result.objective, max(outer, result.violation))
    raise Unsuited(f"the solution cannot be carried over to {problem.name!r}, the problem with a program")


def _without_answer(posed: _Posed, result: Result[Any, Any], reference: Result[Any, Any]) -> Certificate:
    """At least one side has no point to compare."""
    agreed = reference.solution is None and result.status is reference.status
    text = (
        f"CVXPY says {_claim(reference)} and the solver says {_claim(result)}"
        if not agreed
        else f"both say {_claim(reference)}"
    )
    verdict: Verdict = "agrees" if agreed else "worse"
    if reference.status is Status.INFEASIBLE and not agreed:
        verdict = "infeasible"
    return Certificate(verdict, text, posed.problem.name, posed.objective, violation=posed.violation)


def _said(value: float, significant: int = 3) -> str:
    """A number, 0 where it is rounding: gaps are relative to 1 at least."""
    return number(0.0 if abs(value) <= 1e-15 else value, significant)


def _claim(result: Result[Any, Any]) -> str:
    if result.solution is not None and result.status is not Status.DIVERGED:
        return f"there is an answer with objective {_said(result.objective, 6)}"
    return {
        Status.INFEASIBLE: "there is no feasible point",
        Status.DIVERGED: "the objective has no lower bound",
    }.get(result.status, f"nothing ({result.status}: {result.message})")


def _compare(posed: _Posed, reference: Result[Any, Any], tolerance: float) -> Certificate:
    theirs, again = reference.detail.value, reference.objective
    scale = max(1.0, abs(theirs))
    gap = (posed.objective - theirs) / scale

    def verdict(kind: Verdict, text: str) -> Certificate:
        name, doubts = posed.problem.name, "".join(f" ({finding.text})" for finding in reference.findings)
        return Certificate(kind, text + doubts, name, posed.objective, theirs, gap, posed.violation)

    numbers = (
        f"objective {_said(posed.objective, 10)}, CVXPY's {_said(theirs, 10)}, relative gap {_said(gap)}"
    )
    allowed = f"more than the {tolerance:g} allowed"
    if math.isnan(posed.objective):
        return verdict("unsuited", f"{posed.problem.name!r} gives this answer no objective to compare")
    if abs(theirs - again) > tolerance * scale or reference.violation > tolerance:
        return verdict(
            "wrong program",
            f"the CVXPY program is not the problem {posed.problem.name!r}: its optimal value is "
            f"{_said(theirs, 10)}, and the problem gives its answer the objective {_said(again, 10)} and "
            f"the violation {_said(reference.violation)}",
        )
    if not posed.violation <= tolerance:
        return verdict(
            "infeasible",
            f"the answer is {_said(posed.violation)} outside the constraints, {allowed}; {numbers}",
        )
    if gap > tolerance:
        return verdict("worse", f"the answer is worse than CVXPY's: {numbers}, {allowed}")
    if gap < -tolerance:
        return verdict(
            "better",
            f"the answer is better than the optimum: {numbers}, {allowed}; the program is not the problem, "
            "or the violation is measured wrongly",
        )
    return verdict("agrees", f"agrees with CVXPY: {numbers}, violation {_said(posed.violation)}")


def _quietly(problem: Problem[Any], solver: str | Solver[Any, Any, Any], **options: Any) -> Result[Any, Any]:
    """`solve` without a bar and without `NotConverged`: the certificate says it better."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return solve(problem, solver, progress=False, **options)
