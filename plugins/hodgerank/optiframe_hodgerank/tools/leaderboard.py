"""A ranking to publish: ranks that remain possible, scores on a scale of choice, and groups of equals."""

from __future__ import annotations

from typing import Any

from optiframe.solving.result import Result
from optiframe.solving.sources import Source
from optiframe.tables.frames import to_frame
from optiframe_hodgerank.answer import Ranking, Scale, on_scale
from optiframe_hodgerank.ranked import ranked
from optiframe_hodgerank.trust.bootstrap_answer import at_level

_FIRST = ("rank", "rank_low", "rank_high", "item")  # columns; the others follow in the order of the answer's


def leaderboard(
    problem: Source,
    solution: Ranking | Result[Any, Any] | None = None,
    *,
    level: float = 0.9,
    scale: Scale | None = None,
) -> Any:
    """The ranking as a table to publish, best first: ranks, scores with intervals, groups, votes, win rates.

    Parameters
    ----------
    problem, solution
        The comparisons, or the rankings and choices (`listwise-ranking`), and an answer to them; or the
        result of a solver, or a fitted `RobustRanker` or `ListwiseRanker`, alone.
    level
        Coverage of the intervals of scores and ranks.
    scale
        Of the scores; None: the answer's own. The others are for answers in log-odds (`ranking.crowd-bt`,
        `hodge.bradley-terry`, `ranking.plackett-luce`):

        - "log-odds": the difference of two scores is the logarithm of the odds that one beats the other;
        - "elo": 400 points make the odds ten times as high, and the mean of all items is 1000;
        - "win-probability": the chance to beat an item of mean score, ties aside.

        The mean is that of the items of a component (see `component`), each counted once.

    Returns
    -------
    frame
        In the kind the comparisons came in, a row for each item:

        - `rank`, and `rank_low, rank_high`, the best and the worst rank that the comparisons leave open;
        - `item`, `score` and `low, high`, the ends of its interval;
        - `component`, where no chain of comparisons joins all items: ranks and scores only count within one;
        - `group`, up to 100 items: two items share a letter if and only if they cannot be told apart;
        - `votes` on the item, of these `wins` and `ties`, and `win_rate`, the share of wins among those that
          are no ties; all by weight. Of rankings and choices, `votes` are those with the item, and `wins`
          those it comes first in.

        Without intervals (most `hodge.*`; `hodge.bootstrap` makes them) there are no `low, high`, no ranks
        left open and no groups.

    Raises
    ------
    InvalidInput
        For a level not between 0 and 1, an unknown scale, or one that is not for the answer's scores; when
        there are too few draws of a bootstrap for the level, or the answer is for another problem.

    Notes
    -----
    **Ranks and groups** are of all pairs of items at once: with a chance of at least `level` no two items
    are put in the wrong order, so all intervals of ranks hold together (Mogstad et al. 2023). Two items are
    told apart when the difference of their scores exceeds its standard error by Tukey and Kramer's factor,
    3.3 for 20 items at 90%, where 1.6 would do for one pair. Intervals of *scores* are of each item alone,
    as is usual: they may overlap where a pair is distinguishable, and need not where it is not. Ranks by
    simulation, or of a bootstrap's draws, are not taken: they promise too much where items are nearly
    equal.

    The errors of differences follow from the errors of the answer and the correlations that the comparisons
    imply (`optiframe_hodgerank.trust.apart.difference_errors`).
    """
    known, answer = ranked(problem, solution)
    result: Any = problem if solution is None else solution
    answer = at_level(answer, getattr(getattr(result, "result_", result), "detail", None), level)
    table = dict(known.ranking_table(answer))
    for name in ("score", "low", "high"):
        if name in table:
            table[name] = on_scale(table[name], answer.scale, scale)
    first = {name: table[name] for name in _FIRST if name in table}
    return to_frame({**first, **table}, answer.backend)
