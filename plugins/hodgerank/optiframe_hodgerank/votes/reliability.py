"""What is known of each worker of a crowd, and who is unreliable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.ids import Ids, listed
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.kernels.shares import SHARES
from optiframe_hodgerank.votes.crowd import CrowdPoint
from optiframe_hodgerank.votes.effects import Effects
from optiframe_hodgerank.votes.maximum import Point
from optiframe_hodgerank.votes.tie_models import VoteModel
from optiframe_hodgerank.votes.workers import USUAL, WorkerVotes

_POOR = 0.6
"""A worker who votes by the scores with at most this chance is unreliable: little better than guessing."""
_WRONG = 0.4
"""A worker who votes by the scores with at most this chance votes against them."""
_DOUBT = 0.2  # chance of being innocent above which nobody is flagged, as usual for local rates (Efron 2007)
_FEWEST = 3  # workers that it takes to check one against others


@dataclass(frozen=True, eq=False)
class Crowd:
    """Workers of a crowd, and how scores become chances.

    Parameters
    ----------
    worker
        Ids, shape (workers,); those who only said that items tie are among them.
    votes
        Decided votes of each, shape (workers,).
    belief
        Chance of each share 0, 0.1, ..., 1 of each worker's votes being by the scores, shape (workers, 11).
    shares
        How often these shares occur in the crowd, shape (11,).
    fdr
        Share of wrong ones allowed among those who are called unreliable.
    model
        Chances of a reliable worker's vote, given a difference of scores, ties among them.
    prior
        Which prior the scores have, and why, in words.
    effects
        Effects of covariates on the votes of a reliable worker; None without covariates.
    evidence
        As what part of an independent vote each counts where workers are judged to find scores: below 1,
        votes of one worker hang together.
    """

    worker: Ids
    votes: NDArray[np.int64]
    belief: Array
    shares: Array
    fdr: float
    model: VoteModel
    prior: str
    effects: Effects | None = None
    evidence: float = 1.0

    def __repr__(self) -> str:
        return f"<crowd of {len(self.worker)} workers, {len(self.unreliable)} unreliable>"

    @property
    def reliability(self) -> Array:
        """Expected share of each worker's votes that are by the scores, 0.5 by guessing, shape (workers,)."""
        return np.asarray(self.belief @ SHARES)

    def chance(self, difference: Array, worker: Any = None) -> Array:
        """Chance that a vote that is no tie goes to the left item, given its score minus the right one's.

        Of this worker, or of anybody in the crowd: reliable workers' chances, towards one half by as much as
        votes are not by the scores. Of items that do not differ in any covariate; else add `effects.shift` to
        the difference.

        Raises
        ------
        InvalidInput
            When nobody of this id voted.
        """
        share = float(self.shares @ SHARES) if len(self.worker) else 1.0
        if worker is not None:
            known = np.flatnonzero(self.worker == worker)
            if not len(known):
                raise InvalidInput(f"worker {worker} cast no vote; leave worker out for anybody in the crowd")
            share = float(self.reliability[known[0]])
        return np.asarray(share * expit(difference) + (1 - share) * expit(-np.asarray(difference)))

    @cached_property
    def flagged(self) -> NDArray[np.bool_]:
        """Who is unreliable: among them at most a share `fdr` is expected to be called so wrongly.

        Workers are taken in order of the chance that their share is above 0.6, the surest first, as long
        as the mean of these chances is at most `fdr` and their own at most 0.2: many who are surely bad do
        not make others suspects. Nobody, of fewer than three workers.
        """
        return self._surely_at_most(_POOR)

    @cached_property
    def against(self) -> NDArray[np.bool_]:
        """Who of these votes against the scores: a share of at most 0.4, by the same rule."""
        return self.flagged & self._surely_at_most(_WRONG)

    def _surely_at_most(self, share: float) -> NDArray[np.bool_]:
        innocent = self.belief[:, share + 0.05 < SHARES].sum(axis=1)
        order = np.argsort(innocent, kind="stable")
        mean = np.cumsum(innocent[order]) / np.arange(1, len(order) + 1)
        flagged = np.zeros(len(order), dtype=bool)
        if len(order) >= _FEWEST:
            flagged[order] = (mean <= self.fdr) & (innocent[order] <= _DOUBT)
        return flagged

    @property
    def unreliable(self) -> Ids:
        """Ids of those flagged."""
        return self.worker[self.flagged]

    @property
    def verdicts(self) -> NDArray[np.object_]:
        """What is to be said of each worker's votes, in a few words, shape (workers,); empty for most."""
        said = np.full(len(self.worker), "", dtype=object)
        said[self.flagged], said[self.against] = "unreliable", "votes against the ranking"
        return said

    def tables(self) -> dict[str, Columns]:
        """`reliability`: worker, votes, reliability, chance_unreliable and unreliable, the worst first.

        None without workers to tell apart. With covariates also `effects`.
        """
        tables = {} if self.effects is None else self.effects.tables()
        if not len(self.worker):
            return tables
        order = np.argsort(self.reliability, kind="stable")
        poor = self.belief[:, SHARES <= _POOR + 0.05].sum(axis=1)
        return {
            "reliability": {
                "worker": self.worker[order],
                "votes": self.votes[order],
                "reliability": self.reliability[order],
                "chance_unreliable": poor[order],
                "unreliable": self.flagged[order],
            }
        } | tables

    def findings(self) -> Iterator[Finding]:
        """Who is unreliable, by name, votes that depend on each other, and effects hardly determined."""
        if self.effects is not None:
            yield from self.effects.findings()
        if self.evidence < 1:
            yield Finding(
                "note",
                f"votes of one worker depend on each other: to weigh the workers, each vote counts as "
                f"{self.evidence:g} of an independent one, which predicts held-out votes best. To turn this "
                "off, set evidence = 1",
                identifier="ranking.dependent-votes",
            )
        for which, does, counted in (
            (self.against, "against the ranking", "count in reverse"),
            (self.flagged & ~self.against, "little better than by guessing, or worse", "hardly count"),
        ):
            ids = self.worker[which]
            if len(ids):
                single = len(ids) == 1
                who = f"worker {ids[0]} votes {does}" if single else f"{len(ids)} workers vote {does}"
                yield Finding(
                    "warning",
                    f"{who}, and {'the' if single else 'their'} votes {counted}"
                    f"{'' if single else f': {listed(ids)}'} (false discovery rate {100 * self.fdr:g}%; see "
                    "the table reliability)",
                    tuple(ids.tolist()),
                    identifier="ranking.unreliable-worker",
                )


def beliefs(
    comparisons: Comparisons, point: Point | CrowdPoint, votes: WorkerVotes | None
) -> tuple[Ids, NDArray[np.int64], Array, Array]:
    """`worker`, `votes`, `belief` and `shares` of a `Crowd`; nobody where votes were not told apart."""
    if votes is None or not isinstance(point, CrowdPoint):
        return np.empty(0, object), np.empty(0, np.int64), np.empty((0, len(SHARES))), USUAL
    known = point.whole.workers
    belief = np.tile(known.shares, (len(comparisons.worker_ids), 1))  # of who only said that items tie
    count = np.zeros(len(belief), dtype=np.int64)
    named = votes.code >= 0
    belief[votes.code[named]], count[votes.code[named]] = known.belief[named], votes.counts[named]
    return comparisons.worker_ids, count, belief, known.shares
