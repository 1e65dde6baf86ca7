"""The solver for a problem when nobody has named one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from optiframe.errors import InvalidInput, absent
from optiframe.findings import Finding
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.problem import Problem
from optiframe.registry.registry import registry
from optiframe.solving.chain import why_unsuited
from optiframe.solving.result import Result
from optiframe.solving.solver import Solver

S = TypeVar("S")
D = TypeVar("D")


@dataclass(frozen=True)
class Recommendation:
    """A solver for a problem, and why it was chosen, in one sentence."""

    solver: Solver[Any, Any, Any]
    reason: str

    def noted(self, result: Result[S, D]) -> Result[S, D]:
        """The result of this solver, which says that it was chosen and why."""
        text = f"{self.solver.name} was chosen because {self.reason}; name a solver to use another"
        note = Finding("note", text, identifier="solve.recommended-solver")
        settings = {**result.settings, "recommended": self.reason}
        return replace(result, findings=(note, *result.findings), settings=settings)


def recommend(problem: Problem[Any], /, **parameters: Any) -> Recommendation:
    """The first solver of `Problem.recommended` that is installed and takes this problem.

    The problems it formulates to are asked after the problem itself. The solver is chosen at its
    defaults and then gets the parameters.

    Raises
    ------
    InvalidInput
        When there is none, with the names of the solvers that take the problem; for a parameter that the
        solver does not have.
    """
    asked: Problem[Any] | None = problem
    while asked is not None:
        for name, reason in asked.recommended():
            solver = _usable(name, problem)
            if solver is not None:
                return Recommendation(solver.load(**parameters) if parameters else solver, reason)
        formulation = asked.formulation
        asked = None if formulation is None else formulation.problem
    names = those_that_take(problem)
    known = (
        f"these take it: {', '.join(names)}" if names else "none that is installed takes it" + _why(problem)
    )
    raise InvalidInput(f"no solver is recommended for {problem.name!r}; name one ({known})")


def those_that_take(problem: Problem[Any]) -> list[str]:
    """Names of the solvers of the problem's own kind that take it at their defaults."""
    return [
        entry.name
        for entry in registry().entries("solver")
        if (solver := _usable(entry.name, problem)) is not None and isinstance(problem, solver.solves)
    ]


def _usable(name: str, problem: Problem[Any]) -> Solver[Any, Any, Any] | None:
    """The solver of this name, where it is installed and takes the problem at its defaults."""
    with suppress(Exception):  # one solver's fault, or a parameter it needs, hides no other
        cls = registry().get("solver", name)
        if absent(cls.requires) is None:
            solver: Solver[Any, Any, Any] = cls()
            if why_unsuited(problem, solver) is None:
                return solver
    return None


def _why(problem: Problem[Any]) -> str:
    """What the objective lacks for most solvers, and why the one recommended last does not take it."""
    without = problem.lacks([Objective.gradient]) if isinstance(problem, Composite) else None
    return f"; {without}{_refusal(problem)}" if without else _refusal(problem)


def _refusal(problem: Problem[Any]) -> str:
    """Why the solver recommended last, which takes most, does not take it; nothing where nobody knows."""
    for name, _ in problem.recommended()[-1:]:
        with suppress(Exception):
            return f"; {name}: {why_unsuited(problem, registry().get('solver', name)())}"
    return ""
