"""Workers whose skill is in doubt: likely adversaries, spammers, and what hangs on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.problems import Finding
from optiframe.values import Array
from optiframe_rankone.aggregation import Aggregation
from optiframe_rankone.ids import Ids, listed

if TYPE_CHECKING:
    from optiframe_rankone.label_aggregation import LabelAggregation

LEVEL = 0.9  # of the intervals: one worker in twenty is called an adversary or skilled by chance


def doubtful(
    problem: LabelAggregation,
    values: Array,
    low: Array,
    high: Array,
    known: NDArray[np.bool_],
    *,
    vote: Aggregation | None = None,
) -> Iterator[Finding]:
    """Likely adversaries and spammers, by the intervals of their skills where there are any.

    Parameters
    ----------
    values, low, high
        Skills and the ends of their intervals, shape (workers,).
    known
        Whose interval says something, shape (workers,).
    vote
        The vote weighted by these skills, where it is at hand.
    """
    share, ids = f"{LEVEL:.0%}", problem.labels.worker_ids
    against = known & (high < 0)
    if against.any():
        yield about(
            "warning",
            "worker",
            ids[against],
            f"whose skill is below 0, and the {share} interval too, {_likely(int(against.sum()))}: "
            "wrong more often than by guessing, so each label counts against itself",
        )
    below = (values < 0) & ~against
    if below.any():
        yield _reversed(problem, values, below, problem.weighted_vote(values) if vote is None else vote)
    unclear = known & (low <= 0) & (high >= 0)
    if known.any() and (unclear | ~known).all() and values.any():
        yield Finding("warning", f"no skill can be told from 0 (by {share} intervals): all may be guessing")
    elif unclear.any():
        yield about(
            "note",
            "worker",
            ids[unclear],
            f"whose skill cannot be told from 0 (by {share} intervals): guessing (spammers), or too few "
            "labels to tell",
        )


def _likely(count: int) -> str:
    return "likely an adversary" if count == 1 else "likely adversaries"


def _reversed(
    problem: LabelAggregation, values: Array, below: NDArray[np.bool_], with_them: Aggregation
) -> Finding:
    """Workers who seem worse than guessing, and how many answers hang on taking that at its word."""
    ids = problem.labels.worker_ids[below]
    if len(problem.classes) == 2:
        wrong, counted = "wrong more often than right", "labels reversed"
    else:
        wrong, counted = "wrong more often than by guessing", "labels against what they say"
    without = problem.weighted_vote(np.where(below, 0.0, values))
    others = int((with_them.winners != without.winners).any(axis=1).sum())
    hangs = f"without them {others} of {len(problem.labels.task_ids)} answers would be other ones"
    if len(ids) == 1:
        named = isinstance(ids[0], str) and not ids[0].isdigit()
        who = str(ids[0]) if named else f"worker {ids[0]}"  # "2 seems to be wrong" would read as a count
        text = f"{who} seems to be {wrong}, which may be chance; the vote counts {who}'s {counted}; {hangs}"
    else:
        text = (
            f"{len(ids)} workers seem to be {wrong}, which may be chance; the vote counts their {counted}; "
            f"{hangs}: {listed(ids)}"
        )
    return Finding("note", text, tuple(ids.tolist()))


def negative(values: Array, ids: Ids) -> Iterator[Finding]:
    """Workers whose labels count against themselves, where there are no intervals."""
    if (values < 0).any():
        yield about(
            "warning",
            "worker",
            ids[values < 0],
            "whose skill is below 0: wrong more often than by guessing, so each label counts against itself "
            "(`standard_errors` of optiframe_rankone says how sure that is)",
        )


def about(level: Literal["note", "warning", "error"], what: str, ids: Ids, rest: str) -> Finding:
    """`3 workers <rest>: a, b, c` with the ids attached."""
    count = f"{len(ids)} {what}{'' if len(ids) == 1 else 's'}"
    return Finding(level, f"{count} {rest}: {listed(ids)}", tuple(ids.tolist()))
