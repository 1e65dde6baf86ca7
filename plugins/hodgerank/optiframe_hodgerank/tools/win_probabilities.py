"""How likely each item beats each other one."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.solving.result import Result
from optiframe.solving.sources import Source
from optiframe.tables.frames import to_frame
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import answer_of, problem_of
from optiframe_hodgerank.trust.chances import chance_matrices


def win_probabilities(problem: Source, solution: Ranking | Result[Any, Any] | None = None) -> Any:
    """The chance that each item beats each other one, as the scores say, whether they were compared or not.

    Parameters
    ----------
    problem, solution
        The comparisons and an answer in log-odds (`ranking.crowd-bt`, `hodge.bradley-terry`); or the result
        of a solver, or a fitted `RobustRanker`, alone.

    Returns
    -------
    frame
        In the kind the comparisons came in, a row for each ordered pair, best items first: `left, right`;
        `win`, the chance that left wins; `tie` and `loss` where the votes have ties, by Davidson's model,
        or that of the solver; `votes`, how many compared the two, by weight. The chances are nan where no
        chain of comparisons joins the two. In pandas ``frame.pivot(index="left", columns="right",
        values="win")`` is the matrix.

    Raises
    ------
    InvalidInput
        When scores are not log-odds, or the answer is for another problem.

    Notes
    -----
    Of `ranking.crowd-bt` they are the chances of a vote of a reliable worker. Effects of covariates are
    left out.
    """
    known, answer = problem_of(problem), answer_of(problem, solution)
    result: Any = problem if solution is None else solution
    detail = getattr(getattr(result, "result_", result), "detail", None)
    best, items = answer.order, len(answer.items)
    chances = chance_matrices(known.comparisons, answer, detail)
    rows = known.merged
    votes = np.zeros((items, items))
    np.add.at(votes, (rows.left, rows.right), rows.weight)
    votes += votes.T
    if known.comparisons.weight is None:
        votes = votes.astype(np.int64)
    left, right = np.nonzero(~np.eye(items, dtype=bool))
    left, right = best[left], best[right]
    columns = {"left": answer.items[left], "right": answer.items[right], "win": chances.win[left, right]}
    if chances.tie.any():
        columns |= {"tie": chances.tie[left, right], "loss": chances.loss[left, right]}
    return to_frame({**columns, "votes": votes[left, right]}, known.comparisons.backend)
