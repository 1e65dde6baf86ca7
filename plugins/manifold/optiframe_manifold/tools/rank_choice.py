"""How many tastes: the rank, and the penalty's strength, by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.solving import construct
from optiframe.solving.budget import Budget
from optiframe.solving.solver import Solver
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.read.folds import deal
from optiframe_manifold.read.ids import sizes
from optiframe_manifold.read.subsets import some_rows
from optiframe_manifold.tools.cross_validation import Search, Tried, pooled
from optiframe_manifold.trust.personal_choice import Rule

_PATIENCE = 2  # ranks in succession that predict no better before the search for a rank ends
_MOST = 20  # ranks it goes through at most
# A held-out loss needs three digits, not a gradient of 1e-6.
_BUDGET = Budget(tolerance=1e-3, iterations=200)


@dataclass(frozen=True)
class RankChoice:
    """What each rank and multiplier predicted of comparisons held out, and which were chosen.

    Parameters
    ----------
    problem
        The problem with the rank and the multiplier chosen.
    rank, multiplier
        These.
    table
        A row for each rank and multiplier: rank, multiplier, loss (mean -log P of the choices held out),
        error (its standard error, from the folds) and accuracy. Rank 0 is the
        ranking of all users together; it is there to compare with, and cannot be chosen.
    folds
        Loss of each fold, shape (rows of the table, folds).
    findings
        What to know of the choice, in sentences.
    """

    problem: CollaborativeRanking = field(repr=False)
    rank: int
    multiplier: float
    table: Columns = field(repr=False)
    folds: Array = field(repr=False)
    findings: tuple[Finding, ...]

    def frame(self) -> Any:
        """The table, in the kind of data frame the comparisons came in."""
        return to_frame(self.table, self.problem.comparisons.backend)


def choose_rank(
    problem: CollaborativeRanking,
    ranks: Sequence[int] | None = None,
    *,
    multipliers: Sequence[float] | None = None,
    folds: int = 5,
    rule: Rule = "best",
    solver: str | Solver[Any, Any, Any] = "manifold.trust-region",
    seed: int = 0,
    budget: Budget | Mapping[str, Any] | None = None,
) -> RankChoice:
    """The rank (and penalty) that best predicts comparisons held out, by K-fold cross-validation.

    Every user's pairs are dealt out evenly to the folds, all comparisons of one pair by one user to the
    same; so each is predicted from other pairs of the same user, and of all others. A rank starts
    from the answer of the one before, in the direction in which its objective falls fastest. Only
    comparisons are looked at: neither `truth` nor `held_out`.

    Parameters
    ----------
    problem
        Its own rank plays no part.
    ranks
        Which to try. None: 1, 2, 3, ... until two in succession predict no better, 20 at most.
    multipliers
        Of the penalty, to be tried with every rank; None: the problem's.
    folds
        Parts to hold out in turn, at least 2. The work is that many runs for each rank and multiplier.
    rule
        "best": the smallest mean loss. "one-standard-error": the smallest rank, and with it the strongest
        penalty, whose loss is within a standard error of the best one's; simpler, and a little worse.
    solver
        A name or a solver; it must take a start.
    seed
        Fixes how pairs are dealt out.
    budget
        Of each run; default: tolerance 1e-3, 200 iterations.

    Raises
    ------
    InvalidInput
        For a rank that is not possible, less than two folds, or fewer pairs than folds.
    """
    asked = _ranks(problem, ranks)
    strengths = [problem.multiplier] if multipliers is None else list(multipliers)
    if not strengths:
        raise InvalidInput("give at least one multiplier, or None for the problem's")
    if rule not in ("best", "one-standard-error"):
        raise InvalidInput(f"rule must be 'best' or 'one-standard-error', got {rule!r}")
    fold = deal(problem.comparisons, folds, seed)
    chosen = construct.solver(solver) if isinstance(solver, str) else solver
    limits = budget if isinstance(budget, Budget) else Budget(**budget) if budget else _BUDGET
    parts = [
        (some_rows(problem.comparisons, fold != k), some_rows(problem.comparisons, fold == k))
        for k in range(folds)
    ]
    searches = [
        Search(problem, parts, multiplier, solver=chosen, budget=limits, seed=seed)
        for multiplier in strengths
    ]
    rows = [Tried(0, strengths[0], *pooled(problem, parts))]
    best, since = np.inf, 0
    for rank in asked:
        tried = [search.at(rank) for search in searches]
        rows += tried
        least = min(row.loss for row in tried)
        best, since = (least, 0) if least < best else (best, since + 1)
        if ranks is None and since >= _PATIENCE:
            break
    row = _by_rule(rows[1:], rule)
    picked = problem.model_copy(update={"rank": row.rank, "multiplier": row.multiplier})
    unfinished = sum(search.unfinished for search in searches)
    found = tuple(
        _findings(rows, row, asked, most=min(problem.shape), open_end=ranks is None, unfinished=unfinished)
    )
    return RankChoice(
        picked, row.rank, row.multiplier, _table(rows), np.stack([row.losses for row in rows]), found
    )


def _ranks(problem: CollaborativeRanking, ranks: Sequence[int] | None) -> list[int]:
    most = min(problem.shape)
    if ranks is None:
        return list(range(1, min(most, _MOST) + 1))
    asked = sorted(set(ranks))
    if not asked:
        raise InvalidInput("give at least one rank, or None to search")
    for rank in asked:
        if isinstance(rank, bool) or not isinstance(rank, int | np.integer) or not 1 <= rank <= most:
            raise InvalidInput(
                f"ranks: {rank!r} is not possible; scores of "
                f"{sizes(problem.shape)} have a rank from 1 to {most}"
            )
    return [int(rank) for rank in asked]


def _by_rule(rows: Sequence[Tried], rule: Rule) -> Tried:
    best = min(rows, key=lambda row: row.loss)
    if rule == "best":
        return best
    near = [row for row in rows if row.loss <= best.loss + best.error]
    return min(near, key=lambda row: (row.rank, -row.multiplier))


def _findings(
    rows: Sequence[Tried], chosen: Tried, asked: Sequence[int], *, most: int, open_end: bool, unfinished: int
) -> Iterator[Finding]:
    for_all, best = rows[0], min(rows[1:], key=lambda row: row.loss)
    if for_all.loss <= best.loss:
        yield Finding(
            "warning",
            "one ranking for all users predicts held-out comparisons better than any rank with this penalty "
            f"(loss {number(for_all.loss)}; the best, rank {best.rank}, {number(best.loss)}). Use one "
            "ranking, or btl.personal, which adds personal scores to it and may still find individual tastes",
            identifier="collaborative.no-individual-tastes",
        )
    if best.rank == asked[-1] < most and len(asked) > 1:
        yield Finding(
            "note",
            f"the largest rank tried, {best.rank}, predicts best: a larger one may predict better"
            + ("; give ranks" if open_end else ""),
            identifier="collaborative.largest-rank-best",
        )
    near = sorted({row.rank for row in rows[1:] if row.loss <= best.loss + best.error})
    if len(near) > 1:
        yield Finding(
            "note",
            f"ranks {', '.join(map(str, near))} predict within a standard error of the best; chosen "
            f"{chosen.rank}",
            identifier="collaborative.equally-good-ranks",
        )
    strengths = sorted({row.multiplier for row in rows[1:]})
    if len(strengths) > 1 and chosen.multiplier in (strengths[0], strengths[-1]):
        end = "smallest" if chosen.multiplier == strengths[0] else "largest"
        text = f"the multiplier chosen, {chosen.multiplier:g}, is the {end} tried"
        yield Finding("note", text, identifier="collaborative.multiplier-at-end")
    if unfinished:
        text = f"{unfinished} of the runs ended at a limit; raise the budget to be sure"
        yield Finding("warning", text, identifier="collaborative.unfinished-runs")


def _table(rows: Sequence[Tried]) -> Columns:
    return {
        "rank": np.array([row.rank for row in rows]),
        "multiplier": np.array([np.nan if row.rank == 0 else row.multiplier for row in rows]),
        "loss": np.array([row.loss for row in rows]),
        "error": np.array([row.error for row in rows]),
        "accuracy": np.array([row.accuracy for row in rows]),
    }
