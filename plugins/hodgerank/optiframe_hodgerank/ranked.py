"""What tools take that publish a ranking: comparisons, or rankings and choices, with an answer."""

from __future__ import annotations

from optiframe.errors import InvalidInput
from optiframe.solving import sources
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.listwise.problem import ListwiseRanking
from optiframe_hodgerank.problem import PairwiseRanking


def ranked(source: object, solution: object = None) -> tuple[PairwiseRanking | ListwiseRanking, Ranking]:
    """The problem of a result or of a fitted ranker, and its answer, or the one given, checked.

    Raises
    ------
    InvalidInput
        When there is none, or the answer is for another problem.
    """
    result = getattr(source, "result_", source)
    problem = getattr(result, "problem", result)
    if not isinstance(problem, PairwiseRanking | ListwiseRanking):
        raise InvalidInput(
            "give a pairwise-ranking or listwise-ranking problem, the result of a solver for it or a fitted "
            f"ranker, not a {type(problem).__name__}"
        )
    answer: Ranking = sources.answer_of(source, solution)
    problem.check(answer)
    return problem, answer
