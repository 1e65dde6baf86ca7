"""What tools are given: a problem with an answer, the result of a solver, or a fitted estimator."""

from __future__ import annotations

from typing import Any, TypeAlias

from optiframe.errors import InvalidInput
from optiframe.estimator import Estimator
from optiframe.solving.result import Result
from optiframe_manifold.answer import Rankings
from optiframe_manifold.problem import CollaborativeRanking

Source: TypeAlias = CollaborativeRanking | Result[Any, Any] | Estimator
Given: TypeAlias = Rankings | Result[Any, Any] | None


def answered(source: Source, solution: Given = None) -> tuple[CollaborativeRanking, Rankings]:
    """The problem and the answer, which is checked; without one, that of the result or fitted estimator.

    Raises
    ------
    InvalidInput
        When there is no problem or no answer, or the answer is for another problem.
    """
    result = getattr(source, "result_", source)
    problem = getattr(result, "problem", result)
    if not isinstance(problem, CollaborativeRanking):
        raise InvalidInput(
            "give a collaborative-ranking problem, the result of a solver for it or a fitted "
            f"CollaborativeRanker, not a {type(source).__name__}"
        )
    given: Any = result if solution is None else solution
    found: Any = given if isinstance(given, Rankings) else getattr(given, "solution", None)
    if found is None and (solution is None or isinstance(solution, Result)):
        raise InvalidInput("give an answer as well, or the result of a solver that found one")
    problem.check(solution if found is None else found)
    answer: Rankings = found
    return problem, answer
