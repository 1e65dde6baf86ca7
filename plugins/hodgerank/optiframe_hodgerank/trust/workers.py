"""What the comparisons tell about workers: who contradicts the ranking, who only clicks on one side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, listed
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.kernels.votes import sides_p

LEVEL = 0.05
"""Chance that anybody at all is named without cause, if all workers answer alike: the usual 5%, after
Holm's correction over all workers, since to name people is to accuse them."""
_CLICKS = 0.9
"""A share of answers on one side from which a worker counts as clicking there; who does so less often
may have a habit, but mostly looks."""
_EQUAL = 1e-9  # scores closer than this, relative to the largest, do not say who should win

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WorkerCounts:
    """What each worker did, shape (workers,) each; `p` values are exact and not corrected.

    Parameters
    ----------
    comparisons
        Comparisons, ties included.
    decided, left
        Those that are not ties, and those in which the left item won.
    judged, contradictions
        Decided comparisons of items whose scores differ, and those whose winner has the lower score.
    outliers
        Comparisons taken for outliers; None: the method names none.
    position_p
        How likely so uneven a use of left and right is, in either direction, for a worker who chooses
        left as often as the others do where the left item has the higher, the lower and the same score.
    adversary_p
        How likely so many contradictions are for a worker who contradicts every second time.
    verdicts
        What the method itself found of each; None: it counts all alike.
    """

    comparisons: Counts
    decided: Counts
    left: Counts
    judged: Counts
    contradictions: Counts
    outliers: Counts | None
    position_p: Array
    adversary_p: Array
    verdicts: NDArray[np.object_] | None = None

    @property
    def left_share(self) -> Array:
        """Share of left among the decided; nan where there is none."""
        return _shares(self.left, self.decided)

    @property
    def contradiction_rate(self) -> Array:
        """Share of contradictions among the judged; nan where there is none."""
        return _shares(self.contradictions, self.judged)

    @property
    def clickers(self) -> NDArray[np.bool_]:
        """Who clicks on one side: 9 of 10 answers there, and not by chance."""
        one_side = np.maximum(self.left, self.decided - self.left) >= _CLICKS * self.decided
        return np.asarray(one_side & holm(self.position_p))

    @property
    def distrusted(self) -> NDArray[np.bool_]:
        """Of whom the method itself says that they are unreliable."""
        return np.zeros(len(self.decided), bool) if self.verdicts is None else self.verdicts != ""

    @property
    def adversaries(self) -> NDArray[np.bool_]:
        """Who contradicts the ranking more often than not, not by chance, and unnoticed by the method."""
        return np.asarray(holm(self.adversary_p) & ~self.distrusted)

    @property
    def remarks(self) -> NDArray[np.object_]:
        """What is to be said of each worker, in a few words; empty for most."""
        said = (
            np.full(len(self.comparisons), "", dtype=object)
            if self.verdicts is None
            else self.verdicts.copy()
        )
        said[self.adversaries] = "contradicts the ranking"
        mostly_left = 2 * self.left > self.decided
        for side, there in (("left", mostly_left), ("right", ~mostly_left)):
            which = self.clickers & there
            said[which] = [f"{text}, clicks {side}" if text else f"clicks {side}" for text in said[which]]
        return said


def count_workers(comparisons: Comparisons, solution: Ranking) -> WorkerCounts | None:
    """What each worker did, against the scores of an answer; None when no worker is known.

    Rows without a worker are left out, and a row counts once whatever its weight. The scores were
    learnt from the worker's own answers too, which makes every worker look a little more agreeable
    than they are.

    Notes
    -----
    The position test does not take it for granted that the left item wins half of the time: data
    sets put the better item first, by design or, after the fact, always. It compares a worker with
    all *others*, separately where the left item has the higher, the lower and the same score (with
    one answer of each kind added, so that few others prove nothing). Under it the number of left
    answers is a sum of three binomial numbers; its distribution is computed. The chance to choose
    left also varies within each of the three kinds, with the distance of the items, which makes
    the true distribution narrower than the one used: errors are on the side of naming nobody.
    """
    if comparisons.worker is None:
        return None
    workers, known = len(comparisons.worker_ids), comparisons.worker >= 0
    named: NDArray[np.bool_] | slice = slice(None) if known.all() else known
    worker, left, right = (each[named] for each in (comparisons.worker, comparisons.left, comparisons.right))
    ahead = solution.scores[left] - solution.scores[right]
    none = np.abs(ahead) <= _EQUAL * float(np.abs(solution.scores).max(initial=0.0))
    none |= np.isnan(ahead)  # of scores that are not finite: nobody is to win
    if solution.component.any():
        none |= solution.component[left] != solution.component[right]
    kind, outcome = (
        np.where(none, 1, 2 * (ahead > 0)),
        np.sign(comparisons.margin[named]).astype(np.int64) + 1,
    )
    counts = np.bincount((worker * 3 + kind) * 3 + outcome, minlength=9 * workers).reshape(workers, 3, 3)
    cells, lefts = counts[:, :, 0] + counts[:, :, 2], counts[:, :, 2]
    contradictions = counts[:, 0, 2] + counts[:, 2, 0]
    judged = cells[:, 0] + cells[:, 2]
    outliers = None
    if solution.outliers is not None:
        outliers = np.bincount(worker[solution.outliers[named] != 0], minlength=workers)
    return WorkerCounts(
        comparisons=counts.sum(axis=(1, 2)),
        decided=cells.sum(axis=1),
        left=lefts.sum(axis=1),
        judged=judged,
        contradictions=contradictions,
        outliers=outliers,
        position_p=_position_p(cells, lefts),
        adversary_p=_at_least(contradictions, judged),
        verdicts=solution.verdicts,
    )


def _position_p(cells: Counts, lefts: Counts) -> Array:
    """Two-sided p of each worker's left answers, of shape (workers, 3) by kind, given all others'."""
    others = (lefts.sum(axis=0) - lefts + 1) / (cells.sum(axis=0) - cells + 2)
    found = np.empty(len(cells))
    sides_p(cells, others, np.ascontiguousarray(lefts), found)
    return found


def _at_least(seen: Counts, trials: Counts) -> Array:
    """Chance of at least so many of so many, each with chance 1/2."""
    found = np.ones(len(seen))
    some = seen > 0
    found[some] = bdtrc(seen[some] - 1, trials[some], 0.5)
    return found


def holm(p: Array) -> NDArray[np.bool_]:
    """Which hypotheses Holm's procedure rejects: at most `LEVEL` chance of any wrong one."""
    order = np.argsort(p, kind="stable")
    passed = p[order] * np.arange(len(p), 0, -1) <= LEVEL
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order[: int(np.argmin(passed)) if not passed.all() else len(p)]] = True
    return rejected


def suspicious(comparisons: Comparisons, solution: Ranking) -> Iterator[Finding]:
    """Workers who click on one side, and workers who contradict the ranking, by name.

    A method that weighs workers names those it found unreliable itself: of these only the habit is added.
    """
    counts = count_workers(comparisons, solution)
    if counts is None:
        return
    could_weigh = counts.verdicts is None and not comparisons.graded
    weigh = "; ranking.crowd-bt counts votes by the reliability of their workers" if could_weigh else ""
    yield from _named(
        comparisons.worker_ids[counts.adversaries],
        "contradict{s} the ranking in more than half of {their} comparisons",
        weigh,
        identifier="ranking.contradicting-worker",
    )
    yield from _named(
        comparisons.worker_ids[counts.clickers],
        "nearly always chose the same side, whatever was shown there",
        _known_already(counts),
        identifier="ranking.same-side-worker",
    )


def _named(names: Ids, does: str, more: str, *, identifier: str) -> Iterator[Finding]:
    """A warning that names these workers; none without any."""
    if not len(names):
        return
    if len(names) == 1:
        who = f"worker {names[0]} {does.format(s='s', their='its')}"
    else:
        who = f"{len(names)} workers {does.format(s='', their='their')}: {listed(names)}"
    test = "test at 5%, corrected for the number of workers; see the table workers"
    yield Finding("warning", f"{who} ({test}){more}", tuple(names.tolist()), identifier=identifier)


def _known_already(counts: WorkerCounts) -> str:
    """How many of those who click on one side are unreliable anyway, in words."""
    clickers = counts.clickers
    if counts.verdicts is None or not clickers.any():
        return ""
    known = int((clickers & counts.distrusted).sum())
    if known == 0:
        return ""
    if known == clickers.sum():
        return f"; {'' if known == 1 else 'all of them are '}already named as unreliable"
    return f"; {known} of them {'is' if known == 1 else 'are'} already named as unreliable"


def _shares(part: Counts, whole: Counts) -> Array:
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0))
