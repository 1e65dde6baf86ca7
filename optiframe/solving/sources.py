"""What tools are given: a problem, the result of a solver or a fitted estimator, all alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from optiframe.errors import InvalidInput
from optiframe.problems.problem import Problem
from optiframe.registry.registry import build
from optiframe.solving.result import Result
from optiframe.solving.solver import Solver

T = TypeVar("T")


class Fitted(Protocol):
    """A fitted estimator."""

    result_: Result[Any, Any]


Source: TypeAlias = Problem[Any] | Result[Any, Any] | Fitted
"""What tools take a problem from, or something that it holds."""

SolverChoice: TypeAlias = str | Mapping[str, Any] | Solver[Any, Any, Any] | None
"""How a solver is given: a name, a table with `name` and parameters, a solver, or None for the usual one."""


def part_of(source: object, kind: type[T], *path: str, wanted: str) -> T:
    """What a tool needs of its source, such as the problem, its record of the data, or the answer.

    ::

        def model_of(source: Source | SkillModel) -> SkillModel:
            wanted = "a label-aggregation problem, the result of a solver for it or ..."
            return part_of(source, SkillModel, "problem", "model", wanted=wanted)

    Parameters
    ----------
    source
        What the user gave; of a fitted estimator its result is looked at. The wanted object itself is
        taken as well.
    kind
        Class of what is wanted.
    path
        Attributes that lead there from a `Result`. One that is absent is passed over, so the path may be
        entered anywhere: a problem has no attribute ``problem``.
    wanted
        What to give, in words, for the message.

    Raises
    ------
    InvalidInput
        When there is nothing of that class, such as before `fit`.
    """
    found: Any = getattr(source, "result_", source)
    for name in path:
        found = getattr(found, name, found)
    if not isinstance(found, kind):
        if found is source and hasattr(source, "fit"):
            raise InvalidInput(f"this {type(source).__name__} has learnt nothing yet; call fit(frame) first")
        raise InvalidInput(f"give {wanted}, not a {type(source).__name__}")
    return found


def answer_of(source: object, solution: object = None) -> Any:
    """The answer that a tool was given, still to be checked: `solution`, or without one that of the source.

    Either may be a result or a fitted estimator, whose answer is then taken.

    Raises
    ------
    InvalidInput
        When there is none.
    """
    given: Any = source if solution is None else solution
    given = getattr(given, "result_", given)
    found = given.solution if isinstance(given, Result) else solution
    if found is None:
        raise InvalidInput("give an answer as well, or the result of a solver that found one")
    return found


def solver_of(
    source: object, solution: object = None, solver: SolverChoice = None, *, example: str
) -> Solver[Any, Any, Any]:
    """The solver that a tool runs again: the one given, or else that of the result, with its parameters.

    Parameters
    ----------
    source, solution
        What the user gave. As for `answer_of`, the result is that of `solution` where there is one.
    solver
        What the user chose; None takes the solver whose result it is.
    example
        A solver's name, for the message.

    Raises
    ------
    InvalidInput
        When neither is given: a problem or an answer alone does not say what solved it.
    """
    given = source if solution is None else solution
    result = getattr(given, "result_", given)
    chosen = result.settings["solver"] if solver is None and isinstance(result, Result) else solver
    if chosen is None:
        raise InvalidInput(
            f"say which solver gave the answer, such as solver = {example!r}, or give its result instead"
        )
    found: Solver[Any, Any, Any] = chosen if isinstance(chosen, Solver) else build("solver", chosen)
    return found
