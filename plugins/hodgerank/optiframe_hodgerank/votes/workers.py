"""What each worker's votes are worth: how often a worker votes by the scores, from a grid of shares.

A worker with share eta votes as Bradley-Terry says with chance eta, and the other way round otherwise:
1 is a worker as good as the crowd, 0.5 one who guesses, 0 one whose votes are reversed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.records.fields import Array

SHARES: Array = np.linspace(0.0, 1.0, 11)
"""Shares that a worker may have, shape (grid,)."""
PULL = 5.0  # workers that the usual distribution counts as, beside those of the data
_LEAST = 0.01  # of any share, beside the bell: anybody may turn out to be bad
_CLIP = 30.0  # differences of scores beyond are as good as infinite, and logarithms stay finite
_BLOCK = 1 << 14  # votes whose arrays stay in the processor's cache
_STEPS = 1000  # of EM for the distribution of shares: each takes as long as a pass over some votes
_SETTLED = 1e-9  # change of a share that ends them
_RARE = 1e-9  # a chance of a share that changes nothing
_USUAL = np.exp(-(((SHARES - 0.95) / 0.12) ** 2) / 2) + _LEAST
USUAL: Array = _USUAL / _USUAL.sum()
"""How often shares occur before anything is known: mostly 0.8 and more, any at times; shape (grid,)."""


class WorkerVotes(NamedTuple):
    """Decided votes in order of their workers, shape (votes,) each but for `first`.

    Parameters
    ----------
    winner, loser
        Codes of the items.
    weight
        How often each counts.
    pair
        Which pair of the tally it is about.
    first
        Where each worker's votes begin, and the end, shape (workers + 1,).
    code
        Codes of the workers, shape (workers,); -1 where nobody is named, each vote a worker of its own.
    """

    winner: NDArray[np.int64]
    loser: NDArray[np.int64]
    weight: Array
    pair: NDArray[np.int64]
    first: NDArray[np.int64]
    code: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Votes of each worker, shape (workers,)."""
        return np.diff(self.first)


class Pulls(NamedTuple):
    """What votes say at some scores.

    Parameters
    ----------
    belief
        Chance of each share of each worker, shape (workers, grid).
    of_share
        Logarithm of the likelihood of each worker's votes given a share, shape (workers, grid).
    log_likelihood
        Of all votes, whatever the shares are.
    slope, curve
        First derivative of each vote's part of it in the difference winner minus loser, and minus the
        second with the belief held, shape (votes,).
    """

    belief: Array
    of_share: Array
    log_likelihood: float
    slope: Array
    curve: Array


def pulls(votes: WorkerVotes, scores: Array, prior: Array) -> Pulls:
    """Beliefs about workers and what their votes say of the scores; `prior` of the shares, shape (grid,).

    With q = eta p + (1 - eta)(1 - p) the chance of a vote given eta, a worker's belief is proportional to
    prior times the product of q over their votes. Takes blocks of workers: 8 arrays of a block's votes.
    """
    workers = len(votes.counts)
    belief, of_share = np.empty((2, workers, len(SHARES)))
    slope, curve = np.empty(len(votes.winner)), np.empty(len(votes.winner))
    log_prior, total = np.log(prior), 0.0
    for begin, end in _blocks(votes.first):
        some = slice(votes.first[begin], votes.first[end])
        starts = votes.first[begin:end] - votes.first[begin]
        d = np.clip(scores[votes.winner[some]] - scores[votes.loser[some]], -_CLIP, _CLIP)
        p = expit(d)
        weight, spread = votes.weight[some], p * expit(-d)
        logs = of_share[begin:end]
        for k, share in enumerate(SHARES):
            logs[:, k] = np.add.reduceat(weight * np.log((1 - share) + (2 * share - 1) * p), starts)
        logs = logs + log_prior
        top = logs.max(axis=1, keepdims=True)
        chance = np.exp(logs - top)
        whole = chance.sum(axis=1, keepdims=True)
        total += float((top + np.log(whole)).sum())
        chance /= whole
        belief[begin:end] = chance
        first, second = np.zeros(len(p)), np.zeros(len(p))
        count = np.diff(votes.first[begin : end + 1])
        for k in np.flatnonzero(chance.max(axis=0) > _RARE).tolist():
            # Of log q: (2 eta - 1) p (1 - p) / q, and the square of that less the same times 1 - 2p.
            ratio = (2 * SHARES[k] - 1) / ((1 - SHARES[k]) + (2 * SHARES[k] - 1) * p)
            of_vote = np.repeat(chance[:, k], count) * ratio
            first += of_vote
            second += of_vote * ratio
        slope[some] = weight * spread * first
        curve[some] = weight * spread * (spread * second - (1 - 2 * p) * first)
    return Pulls(belief, of_share, total, slope, curve)


def updated(votes: WorkerVotes, log_likelihood: Array) -> Array:
    """The distribution of shares by empirical Bayes: those of the workers, pulled to the usual one.

    What EM would come to with the scores held, as its steps alone are many: `log_likelihood` of each
    worker's votes given a share, shape (workers, grid).
    """
    logs = log_likelihood[votes.code >= 0]
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = USUAL
    for _ in range(_STEPS):
        before = shares
        counts = before * (likelihood.T @ (1.0 / (likelihood @ before))) + PULL * USUAL
        shares = counts / counts.sum()
        if np.abs(shares - before).max() <= _SETTLED:
            break
    return np.asarray(shares)


def _blocks(first: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of workers with about so many votes together, at least one worker each."""
    cuts = np.unique(np.searchsorted(first, np.arange(0, first[-1], _BLOCK), "right") - 1)
    ends = np.append(cuts[1:], len(first) - 1)
    return [(int(a), int(b)) for a, b in zip(cuts, ends, strict=True) if b > a]
