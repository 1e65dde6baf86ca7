"""Bootstrap intervals: how far the scores of any method would move if other comparisons were drawn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optiframe import registry
from optiframe.errors import InvalidInput
from optiframe.frames import to_frame
from optiframe.loop import NotConverged, solve
from optiframe.problems import Columns
from optiframe.solvers import Budget, Solver
from optiframe.values import Array
from optiframe_hodgerank.pairwise_ranking import PairwiseRanking
from optiframe_hodgerank.ranking import Ranking

if TYPE_CHECKING:
    from optiframe_hodgerank.tables import ComparisonTable

_LOST = 0.5  # share of draws that may fall apart; with fewer left, they are not like the data any more


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Scores of a method on comparisons drawn again.

    Parameters
    ----------
    ranking
        The answer to all comparisons, with intervals.
    scores
        Shape (draws, items).
    level
        Coverage the intervals are meant to have.
    apart
        Draws left out because their comparisons did not hold the items together.
    """

    ranking: Ranking
    scores: Array
    level: float
    apart: int

    def __repr__(self) -> str:
        return f"<bootstrap of {len(self.ranking.items)} scores, {len(self.scores)} draws>"

    @property
    def places(self) -> NDArray[np.int64]:
        """Place of each item in each draw, within its component, 1 the best, shape (draws, items)."""
        same = self.ranking.component[:, None] == self.ranking.component[None, :]
        return np.array([1 + ((draw > draw[:, None]) & same).sum(axis=1) for draw in self.scores])

    def columns(self) -> Columns:
        """`ranking.columns()` and `rank_low, rank_high`, the interval of the ranks; best first."""
        tail = (1 - self.level) / 2
        # Ranks are whole numbers: the ends are ranks that occur.
        low = np.quantile(self.places, tail, axis=0, method="inverted_cdf").astype(np.int64)
        high = np.quantile(self.places, 1 - tail, axis=0, method="inverted_cdf").astype(np.int64)
        best = self.ranking.order
        return {**self.ranking.columns(), "rank_low": low[best], "rank_high": high[best]}

    def frame(self) -> Any:
        """`columns()` as the kind of data frame the comparisons came in."""
        return to_frame(self.columns(), self.ranking.backend)

    def above(self) -> Array:
        """Share of the draws in which item i scores higher than item j, shape (items, items)."""
        return np.asarray((self.scores[:, :, None] > self.scores[:, None, :]).mean(axis=0))


def bootstrap(
    problem: PairwiseRanking,
    solver: str | Mapping[str, Any] | Solver[Any, Any, Any] = "hodge.lbi",
    *,
    draws: int = 200,
    level: float = 0.9,
    seed: int = 0,
    by: str = "comparison",
    budget: Budget | Mapping[str, Any] | None = None,
) -> Bootstrap:
    """Intervals of scores and ranks, for any method, by drawing the comparisons again.

    Parameters
    ----------
    problem
        The comparisons.
    solver
        A solver's name, a table with `name` and parameters, or a solver.
    draws
        How often to draw, at least 20. The ends of 90% intervals need some 200.
    level
        Coverage of the intervals, within (0, 1).
    seed
        Fixes the draws and whatever the solver draws.
    by
        "comparison": comparisons are drawn one by one. "worker": workers are drawn with all their
        comparisons, which is right when a worker's answers depend on each other.
    budget
        Limits of each run.

    Returns
    -------
    Bootstrap
        Percentile intervals (Efron): the quantiles of the draws' scores.

    Raises
    ------
    InvalidInput
        For wrong parameters, workers that are not known, or when more than half of the draws
        fall apart into groups that the data hold together; and whatever the solver raises.

    Notes
    -----
    Draws that fall apart are left out, which takes the scores for a little surer than they are. A
    path solver's answer has a kink where a comparison enters: the interval is for *that* method with
    its bias, not for the true score. Time is `draws` runs; memory 8 draws items bytes.
    """
    if draws < 20:
        raise InvalidInput(f"draws must be at least 20 for an interval, got {draws}")
    if not 0 < level < 1:
        raise InvalidInput(f"level must be within (0, 1), got {level}")
    chosen = solver if isinstance(solver, Solver) else registry.build("solver", solver)
    groups = _groups(problem, by)
    answer: Ranking = solve(problem, chosen, seed=seed, budget=budget, trace=False).solution
    scores, apart = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # the run on all comparisons has said so
        for stream in np.random.SeedSequence(seed).spawn(draws):
            drawn = _drawn(problem, groups, np.random.default_rng(stream))
            if not np.array_equal(drawn.graph.components, problem.graph.components):
                apart += 1
                continue
            one = solve(drawn, chosen, seed=seed, budget=budget, trace=False)
            scores.append(one.solution.scores)
    if apart > _LOST * draws:
        raise InvalidInput(
            f"{apart} of {draws} draws fall apart into groups of items without a comparison between them; "
            "the comparisons are too few for a bootstrap"
        )
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Bootstrap(answer.with_intervals(low, high), np.array(scores), level, apart)


def _groups(problem: PairwiseRanking, by: str) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Rows sorted by worker and where each worker's begin; None where each row is by itself."""
    if by == "comparison":
        return None
    worker = problem.comparisons.worker
    if by != "worker":
        raise InvalidInput(f"by must be 'comparison' or 'worker', got {by!r}")
    if worker is None or (worker < 0).any():
        raise InvalidInput("to draw workers, every comparison must name its worker")
    order = np.argsort(worker, kind="stable")
    return order, np.searchsorted(worker[order], np.arange(worker.max() + 2))


def _drawn(
    problem: PairwiseRanking,
    groups: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    rng: np.random.Generator,
) -> PairwiseRanking:
    """The problem with as many rows (or workers), drawn with repeats; items keep their codes."""
    if groups is None:
        rows = rng.integers(problem.rows, size=problem.rows)
    else:
        order, first = groups
        who = rng.integers(len(first) - 1, size=len(first) - 1)
        rows = np.concatenate([order[first[one] : first[one + 1]] for one in who.tolist()])
    table = problem.comparisons
    taken: ComparisonTable = replace(
        table,
        left=table.left[rows],
        right=table.right[rows],
        margin=table.margin[rows],
        weight=None if table.weight is None else table.weight[rows],
        worker=None,
        worker_ids=table.worker_ids[:0],
        lines=None,
    )
    return PairwiseRanking(comparisons=taken, outlier_price=problem.outlier_price)
