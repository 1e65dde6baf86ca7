"""Workers whose skill is in doubt: likely adversaries, spammers, and what hangs on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.records.fields import Array
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation, over_classes
from optiframe_rankone.data import Crowd
from optiframe_rankone.ids import about
from optiframe_rankone.vote import weighted_vote

LEVEL = 0.9  # of the intervals of skills


def doubtful(
    crowd: Crowd,
    solution: Aggregation,
    chance: Array,
    low: Array,
    high: Array,
    *,
    differs: NDArray[np.bool_] | None = None,
) -> Iterator[Finding]:
    """Likely adversaries and spammers.

    Parameters
    ----------
    chance
        How likely a worker of skill 0 seems so wrong, shape (workers,). A worker is called reliably wrong by
        Holm's procedure over all workers, so that among a hundred honest ones nobody is accused for being
        the unluckiest; `reliably_below_0`.
    low, high
        Intervals of the skills, each of shape (workers,).
    differs
        Workers whose skill something else than the interval tells from 0, shape (workers,): they are not
        said to guess. None: nobody.
    """
    assert solution.skills is not None
    values, ids, share = solution.skills, crowd.labels.worker_ids, percent(LEVEL)
    known = (low > -1.0 / (len(crowd.classes) - 1)) | (high < 1.0)  # not the whole range
    against = np.zeros(len(values), dtype=bool)
    if not solution.unsettled:
        against = reliably_below_0(np.where(known, chance, 1.0)) & (values < 0)
    yield from about(
        "warning",
        "worker",
        ids[against],
        "reliably wrong (skill below 0 beyond chance, also when all workers are tested together), "
        f"likely {'an adversary' if against.sum() == 1 else 'adversaries'}"
        + ("; the vote counts their labels in reverse" if solution.reverses else ""),
        identifier="labels.reliably-wrong-worker",
    )
    yield from seemingly_wrong(crowd, solution, but=against)
    unclear = known & (low <= 0) & (high >= 0)
    if differs is not None:
        unclear &= ~differs
    if known.any() and (unclear | ~known).all() and values.any():
        yield Finding(
            "warning",
            f"no skill differs clearly from 0 (by {share} intervals): all may be guessing",
            identifier="labels.all-may-be-guessing",
        )
    elif unclear.any():
        yield from about(
            "note",
            "worker",
            ids[unclear],
            f"whose skill does not differ clearly from 0 (by {share} intervals): guessing (spammers), or too "
            "few labels to tell",
            identifier="labels.possibly-guessing-worker",
        )


def reliably_below_0(chance: Array) -> NDArray[np.bool_]:
    """Holm's step-down procedure: the chance that any worker of skill 0 or more is named is at most 5%."""
    order = np.argsort(chance, kind="stable")
    passed = chance[order] * np.arange(len(order), 0, -1) <= (1.0 - LEVEL) / 2.0
    named = np.zeros(len(chance), dtype=bool)
    named[order[np.logical_and.accumulate(passed)]] = True
    return named


def chance_by_agreement(crowd: Crowd, values: Array, errors: Array) -> Array:
    """How likely someone of skill 0 seems so wrong, by skills and their errors, each of shape (workers,).

    1 where the error is infinite. No error is taken to be below that of a guessing worker whose truths
    are all known, 1/sqrt((M - 1) N), and quantiles are Student's with N - 1 degrees of freedom: skills
    that EM fits to ten labels have far smaller errors of their own, and of 100 honest workers with three
    labels a task normal quantiles of these accuse somebody in four of five draws.
    """
    count, classes = crowd.labels.per_worker, len(crowd.classes)
    scale = np.maximum(errors, 1.0 / np.sqrt((classes - 1.0) * count))
    return np.where(np.isfinite(errors), stdtr(np.maximum(count - 1.0, 1.0), values / scale), 1.0)


def seemingly_wrong(
    crowd: Crowd, solution: Aggregation, but: NDArray[np.bool_] | None = None
) -> Iterator[Finding]:
    """Workers of skill below 0 whose labels the vote counts in reverse, ``but`` for those already named."""
    assert solution.skills is not None
    below = solution.skills < 0
    if but is not None:
        below &= ~but
    if solution.reverses and below.any():
        yield _reversed(crowd, solution, below)


def _reversed(crowd: Crowd, solution: Aggregation, below: NDArray[np.bool_]) -> Finding:
    """Workers who seem worse than guessing, and how many answers hang on taking that at its word."""
    assert solution.skills is not None
    ids, values = crowd.labels.worker_ids[below], solution.skills
    if len(crowd.classes) == 2:
        wrong, counted = "wrong more often than right", "labels reversed"
    else:
        wrong, counted = "wrong more often than by guessing", "labels against what they say"
    with_them = solution if solution.fitted else weighted_vote(crowd, values)
    without = weighted_vote(crowd, np.where(below, 0.0, values))
    others = int(over_classes(np.logical_or, with_them.winners != without.winners).sum())
    changes = f"leaving them out would change {others} of {len(crowd.labels.task_ids)} answers"
    if len(ids) == 1:
        named = isinstance(ids[0], str) and not ids[0].isdigit()
        who = str(ids[0]) if named else f"worker {ids[0]}"  # "2 seems to be wrong" would read as a count
        text = f"{who} seems to be {wrong}, which may be chance; the vote counts {who}'s {counted}; {changes}"
    else:
        text = (
            f"{len(ids)} workers seem to be {wrong}, which may be chance; the vote counts their {counted}; "
            f"{changes}: {listed(ids)}"
        )
    return Finding("note", text, tuple(ids.tolist()), identifier="labels.seemingly-wrong-worker")


def negative(solution: Aggregation) -> Iterator[Finding]:
    """Workers of skill below 0, where there are no intervals."""
    assert solution.skills is not None
    below = solution.skills < 0
    if below.any():
        counted = "the vote counts their labels in reverse; " if solution.reverses else ""
        yield from about(
            "warning",
            "worker",
            solution.worker_ids[below],
            "with an estimated skill below 0 (wrong more often than by guessing), which may be chance; "
            f"{counted}`intervals` of optiframe_rankone says how sure that is",
            identifier="labels.seemingly-wrong-worker",
        )
