"""Problems no solver is made for, and the check of what solvers say about them; the rest is in `checks`."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective, SquaredDistance
from optiframe.problems.problem import Problem
from optiframe.problems.projection import Projection
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.solving.budget import Budget
from optiframe.solving.chain import why_unsuited
from optiframe.testing.cases import AnyProblem, Case
from optiframe.testing.failures import described_error

_PROBE_ITERATIONS = 3  # enough to see a run begin


def check_unsuited_answers_rather_than_raises(case: Case) -> None:
    """For any kind of problem the solver says in words why not, or solves it."""
    for probe in odd_problems():
        if isinstance(probe, case.solver.solves):
            _ask(case, probe)
        try:
            reason = why_unsuited(probe, case.solver)
        except Exception as error:  # `unsuited` is the solver's code: any error is the finding
            case.fail(
                f"asked about {describe_odd(probe)}, `unsuited` raises {described_error(error, case.solver)}"
            )
        if reason is None:
            _try(case, probe)


class _NoGradient(Objective):
    """An objective that has a value and nothing else."""

    name = "no-gradient"

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    def value(self, x: Any) -> float:
        return float(np.max(np.abs(np.asarray(x) - 1.0)))


class _Strange(WholeSpace):
    """A set that can be written for no library."""

    name = "strange"

    def as_cvxpy(self, x: Any) -> Any:
        return None

    def as_scipy(self, shape: tuple[int, ...]) -> Any:
        return None


class _Foreign(Problem[Any]):
    """A problem of a kind that no solver knows."""

    name = "foreign"


def odd_problems() -> list[AnyProblem]:
    """Problems that most solvers cannot take: no derivative, no known form, a strange kind."""
    point = np.array([1.0, 2.0])
    return [
        Minimize(_NoGradient()),
        Minimize(SquaredDistance(to=point), over=_Strange()),
        Projection(point, onto=WholeSpace()),
        _Foreign(),
    ]


def describe_odd(probe: AnyProblem) -> str:
    """One of `odd_problems` in words."""
    if isinstance(probe, Minimize):
        return f"a Minimize of {probe.function.name!r} over {probe.over.name!r}"
    return f"a {probe.name!r} problem"


def _ask(case: Case, probe: AnyProblem) -> None:
    try:
        answer = case.solver.unsuited(probe)
    except Exception as error:  # any error is the finding
        case.fail(
            f"asked about {describe_odd(probe)}, `unsuited` raises {described_error(error, case.solver)}"
        )
    if answer is not None and (not isinstance(answer, str) or not answer.strip()):
        case.fail(
            f"asked about {describe_odd(probe)}, `unsuited` gives {answer!r} instead of a reason or None"
        )


def _try(case: Case, probe: AnyProblem) -> None:
    """A solver that says nothing against a problem must be able to take a step on it."""
    try:
        case.solve(problem=probe, budget=Budget(iterations=_PROBE_ITERATIONS))
    except Exception as error:  # the finding again
        case.fail(
            f"`unsuited` has nothing against {describe_odd(probe)}, and then a run raises "
            f"{described_error(error, case.solver)}"
        )
