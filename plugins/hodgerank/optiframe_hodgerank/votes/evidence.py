"""How much the votes of a worker tell of the worker: the part that predicts votes left out best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_hodgerank.kernels.shares import SHARES
from optiframe_hodgerank.votes.crowd import CrowdLikelihood, CrowdPoint, climb
from optiframe_hodgerank.votes.tally import Tally
from optiframe_hodgerank.votes.workers import WorkerVotes

_PARTS = (1.0, 0.3, 0.1, 0.03)
_FOLDS = 3
_FEWEST, _MOST = 100, 20_000  # votes: fewer tell nothing, and more take longer than the scores themselves
_WORTH = (
    0.002  # log-loss a vote that less must gain: in crowds of the model, where it gains nothing, up to .0004
)
_NEAR = 0.01  # of scores: predictions within this are the same
_STEPS = 20  # of a fit; five to ten suffice


def most_predictive(pairs: Tally, votes: WorkerVotes, start: Array, run: Run) -> float:
    """The part of an independent vote with the least log-loss over three folds; 1 unless that gains .002.

    What it predicts of a vote left out is what anybody in the crowd would say. Votes of one worker on one
    pair are in the same fold. 1 for fewer than 100 votes and beyond 20,000, and where the time ends before.

    Parameters
    ----------
    pairs, votes
        The decided votes by pair, and in order of their workers.
    start
        Scores to begin at, shape (items,).
    """
    if not _FEWEST <= len(votes.winner) <= _MOST:
        return 1.0
    fold, losses = _dealt(pairs, votes, run.rng), np.zeros(len(_PARTS))
    for held_out in range(_FOLDS):
        kept, test, theta = _only(votes, fold != held_out), fold == held_out, start
        counted = _counted(pairs, kept)
        for at, part in enumerate(_PARTS):
            if run.stopping or run.time_left() <= 0:
                return 1.0
            point = _fitted(CrowdLikelihood(counted, kept, evidence=part).start(theta))
            theta = point.theta
            served, share = point.whole.theta, float(point.whole.workers.shares @ SHARES)
            chance = expit((served[votes.winner] - served[votes.loser])[test])
            losses[at] -= votes.weight[test] @ np.log(share * chance + (1 - share) * (1 - chance))
    best = int(losses.argmin())
    return _PARTS[best] if losses[0] - losses[best] > _WORTH * votes.weight.sum() else 1.0


def _fitted(start: CrowdPoint) -> CrowdPoint:
    for made, (point, change) in enumerate(climb(start), 1):
        if change <= _NEAR or made >= _STEPS:
            return point
    raise AssertionError  # it never ends


def _dealt(pairs: Tally, votes: WorkerVotes, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of each vote, shape (votes,)."""
    worker = np.repeat(np.arange(len(votes.counts)), votes.counts)
    group = np.unique(worker * len(pairs.left) + votes.pair, return_inverse=True)[1].ravel()
    return np.asarray(rng.permutation(group.max() + 1)[group] % _FOLDS)


def _only(votes: WorkerVotes, which: NDArray[np.bool_]) -> WorkerVotes:
    """These votes, by those of the workers who cast one."""
    counts = np.add.reduceat(which.astype(np.int64), votes.first[:-1])
    some = counts > 0
    return WorkerVotes(
        votes.winner[which],
        votes.loser[which],
        votes.weight[which],
        votes.pair[which],
        np.append(0, np.cumsum(counts[some])),
        votes.code[some],
    )


def _counted(pairs: Tally, votes: WorkerVotes) -> Tally:
    """The votes on each pair."""
    left = pairs.left[votes.pair] == votes.winner
    won, lost = (
        np.asarray(np.bincount(votes.pair[side], votes.weight[side], len(pairs.left)), dtype=np.float64)
        for side in (left, ~left)
    )
    return pairs._replace(won=won, lost=lost)
