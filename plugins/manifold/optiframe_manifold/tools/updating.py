"""New comparisons for an answer that is there: begin where it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.solving.budget import Budget
from optiframe.solving.result import Result
from optiframe.solving.solve import solve
from optiframe.solving.solver import Solver
from optiframe.solving.sources import Source
from optiframe_manifold.answer import Rankings
from optiframe_manifold.low_rank import LowRank, finite
from optiframe_manifold.population import pooled_scores
from optiframe_manifold.problem import CollaborativeRanking, answered
from optiframe_manifold.read.subsets import joined


def with_comparisons(problem: CollaborativeRanking, comparisons: Any) -> CollaborativeRanking:
    """The problem with further comparisons; users and items that are new come after the others.

    Its truth and held-out comparisons are left out where there are new users or items, whom they do not
    know.

    Parameters
    ----------
    problem
        The comparisons so far.
    comparisons
        As for the problem: a data frame, a mapping of columns or a file, its columns and labels named alike.

    Raises
    ------
    InvalidInput
        For whatever is wrong with the comparisons, and when ids are spelled in another way.
    """
    # Read as a problem of their own, of rank 1, whatever their number; users and items may be new.
    reading: dict[str, Any] = {"columns": problem.columns, "outcomes": problem.outcomes}
    batch = type(problem)(comparisons=comparisons, **reading, rank=1)
    table = joined(problem.comparisons, batch.comparisons)
    known = dict(reading)
    if (len(table.user_ids), len(table.item_ids)) == problem.shape:
        known |= {"truth": problem.truth, "held_out": problem.held_out}
    return problem.like(table, **known)


def carried(problem: CollaborativeRanking, solution: Rankings) -> Rankings:
    """An answer for fewer users and items as a start for these.

    A user who is new, or had no comparison before, begins as near to the ranking of all users together
    as the items' factors allow (a least-squares fit), an item that is new at the average of those known.

    Raises
    ------
    InvalidInput
        When the answer's users and items are not the first of the problem's.
    """
    users, items = solution.factors.shape
    for mine, theirs, what in (
        (problem.user_ids, solution.users, "users"),
        (problem.item_ids, solution.items, "items"),
    ):
        if not np.array_equal(mine[: len(theirs)], theirs):
            raise InvalidInput(f"the answer's {what} are not the first {len(theirs)} of the problem's")
    old = solution.factors
    begun = np.zeros(problem.shape[0], dtype=bool)
    begun[:users] = True
    seen = np.ones(items, dtype=bool)
    if solution.population is not None:
        begun[:users], seen = ~solution.population.silent, ~solution.population.unseen
    right = np.tile(old.right[seen].mean(axis=0), (problem.shape[1], 1))
    right[:items][seen] = old.right[seen]
    left = np.zeros((problem.shape[0], old.rank))
    left[:users] = old.left
    if not begun.all():
        # In the answer's unit, which is its sigma.
        pooled = pooled_scores(problem.likelihood) * (solution.sigma / problem.sigma)
        known = np.zeros(len(right), dtype=bool)
        known[:items] = seen
        centred = right[known] - right[known].mean(axis=0)
        left[~begun] = np.linalg.lstsq(centred, pooled[known] - pooled[known].mean(), rcond=None)[0]
    return Rankings(problem.user_ids, problem.item_ids, LowRank(left, right), solution.sigma)


def update(
    result: Source,
    comparisons: Any,
    solver: str | Solver[Any, Any, Any] = "manifold.trust-region",
    *,
    seed: int = 0,
    budget: Budget | Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Result[Rankings, Any]:
    """Solve again with further comparisons, beginning at an earlier answer.

    The answer is one for all comparisons together, as if they had been there from the beginning, up to
    which of several minima is found; it takes fewer steps.

    Parameters
    ----------
    result
        Of a run on `collaborative-ranking`, or a fitted `CollaborativeRanker`.
    comparisons
        The further ones, as by `with_comparisons`; users and items may be new.
    solver, seed, budget, parameters
        As for `optiframe.solve`; the solver must take a start.

    Raises
    ------
    InvalidInput
        When the result is of another problem, for wrong comparisons, or an earlier answer that is not
        finite.
    Unsuited
        When the solver takes no start.
    """
    problem, answer = answered(result)
    if not finite(answer.factors):
        raise InvalidInput("the earlier answer is not finite; solve the new problem without it")
    larger = with_comparisons(problem, comparisons)
    start = carried(larger, answer)
    return solve(larger, solver, seed=seed, budget=budget, start=start, **parameters)
