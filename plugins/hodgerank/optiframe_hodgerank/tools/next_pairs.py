"""Which pairs to compare next: those that make the scores surer, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optiframe.solving.result import Result
from optiframe.solving.sources import Source
from optiframe.tables.frames import to_frame
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import answer_of, problem_of
from optiframe_hodgerank.trust.next_pairs import Measure
from optiframe_hodgerank.trust.suggestions import Asking, reliability_of, suggestions


def suggest(
    problem: Source,
    solution: Ranking | Result[Any, Any] | None = None,
    n: int = 10,
    *,
    measure: Measure = "variance",
    weight: float = 1.0,
    first: int | None = None,
    per_pair: int | None = None,
    workers: Sequence[Any] | None = None,
    per_worker: int | None = None,
) -> Any:
    """The comparisons that would most reduce the uncertainty of the scores, the best first.

    A further comparison of i and j adds h (e_i - e_j)(e_i - e_j)' to the information on the scores: h is
    `weight`, and with an answer in log-odds `weight` p (1 - p), p the chance that one beats the other, so
    that a pair whose winner is plain tells little. Pairs are chosen one by one, each as if those before it
    had been made (greedily), among all pairs of items:

    - "variance" (A-optimal): by how much the mean variance of a difference of two scores falls,
      which is the trace of their covariance;
    - "volume" (D-optimal): by how much the logarithm of the volume of the scores' confidence region
      falls, log(1 + h R_ij), with R_ij the effective resistance; it asks for the pair whose
      difference is least known.

    With `first`, they aim at the first places: by how much falls what is expected to be lost by ordering
    wrongly an item in these places and any other. Once nothing more is to be lost, `measure` decides.

    Items that no chain of comparisons joins come first: joining two groups gains infinitely.

    Parameters
    ----------
    problem, solution
        The comparisons so far, and an answer to them; or the result of a solver, or a fitted
        `RobustRanker`, alone. Comparisons that the answer takes for outliers are not counted as known;
        without an answer all are, and no pair is plainer than another.
    n
        How many to suggest.
    measure
        What is to fall.
    weight
        What one comparison weighs.
    first
        How many of the first places to settle: who has them, and in which order. None: all scores alike.
    per_pair
        How often a pair may come at most; None: as evenly as n asks, so once as long as there are n pairs.
    workers
        Whom to ask, a list of ids; None: nobody in particular, or with `per_worker` all who have voted.
    per_worker
        How many pairs one worker may be asked for; None: as evenly as n asks.

    Returns
    -------
    frame
        Columns `left, right, gain, resistance` of the kind of the comparisons' frame. `gain` is relative:
        the share of the trace or of what may be lost, or the fall of the logarithm, each infinite where
        groups are joined; `resistance` is R_ij before the comparison, the variance of the difference, for
        margins in units of sigma^2. With `workers` or `per_worker` also `worker`, whom to ask: nobody for a
        pair that they have compared, and reliable workers rather than others where the answer says so
        (`ranking.crowd-bt`). There are fewer than n where caps or what workers have compared leave no more.

    Raises
    ------
    InvalidInput
        For an n, weight or cap that is not positive, a `first` without an answer in scores or beyond the
        items, more than all pairs can make, or more than 2,000 items.
    MissingPackage
        For `workers` and `per_worker` without the plugin tvcs, whose set `three-view` has the caps; with the
        command that installs it.

    Notes
    -----
    Without `first`, and with margins, it does not matter what the answers will be, nor how far apart the
    scores are. Each suggestion costs a product of matrices of items x items; memory is some ten such
    matrices. Dealing out to workers is exact: of twice as many pairs, at most n are asked, at most
    `per_worker` of one worker and each as often as it was suggested, so that gains times reliability,
    (2 r - 1)^2 for a share r of votes by the scores, sum to the most.
    """
    known = problem_of(problem)
    answer = answer_of(problem, solution) if solution is not None or problem is not known else None
    result: Any = problem if solution is None else solution
    detail = getattr(getattr(result, "result_", result), "detail", None)
    asking = Asking(n, measure, weight, first, per_pair, workers, per_worker)
    columns = suggestions(known.comparisons, answer, asking, reliability_of(detail))
    return to_frame(columns, known.comparisons.backend)
