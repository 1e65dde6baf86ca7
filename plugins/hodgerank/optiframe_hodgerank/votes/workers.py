"""What each worker's votes are worth: how often a worker votes by the scores, from a grid of shares.

A worker with share eta votes as Bradley-Terry says with chance eta, and the other way round otherwise:
1 is a worker as good as the crowd, 0.5 one who guesses, 0 one whose votes are reversed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.kernels.shares import SHARES
from optiframe_hodgerank.kernels.votes import crowd_likelihoods, crowd_slopes

PULL = 5.0  # workers that the usual distribution counts as, beside those of the data
_LEAST = 0.01  # of any share, beside the bell: anybody may turn out to be bad
_RARE = 1e-9  # a chance of a share that changes nothing
_STEPS = 100  # of Newton's method for the distribution of shares; three to ten suffice
_HALVINGS = 30  # of one that does not help
_SETTLED = 1e-3  # relative change of a share that ends them: the next would be its square
_ROUNDING = 1e-14  # of the loss, relative to it
_INSIDE = 0.9  # share of the way to where a share would be 0 that a step may take
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


@dataclass(frozen=True, eq=False)
class Posterior:
    """What votes say of their workers at some scores, and of the scores once workers are judged so.

    Parameters
    ----------
    votes
        In order of their workers.
    chance
        Of each vote by the scores, shape (votes,).
    likelihood
        Of each worker's votes given a share over the largest of these, shape (workers, grid).
    log_scale
        The sum of the logarithms of these largest.
    shares
        Distribution of the shares, shape (grid,).
    evidence
        Power to which the likelihood of each worker's votes is raised: below 1, votes that hang together tell
        less of their worker than as many independent ones.
    """

    votes: WorkerVotes
    chance: Array
    likelihood: Array
    log_scale: float
    shares: Array
    evidence: float = 1.0

    @classmethod
    def at(cls, votes: WorkerVotes, scores: Array, shares: Array, evidence: float = 1.0) -> Posterior:
        """At these scores, with this distribution of shares."""
        chance, logs = np.empty(len(votes.winner)), np.empty((len(votes.counts), len(SHARES)))
        crowd_likelihoods(votes.winner, votes.loser, votes.weight, votes.first, scores, chance, logs)
        if evidence != 1.0:
            logs *= evidence
        top = logs.max(axis=1, initial=-np.inf, keepdims=True)
        np.exp(np.subtract(logs, top, out=logs), out=logs)
        return cls(votes, chance, logs, float(top.sum()), shares, evidence)

    def with_likeliest_shares(self) -> Posterior:
        """With the distribution of shares that workers with a name make likeliest."""
        named = self.votes.code >= 0
        known = self.likelihood if named.all() else self.likelihood[named]
        return replace(self, shares=distribution(known, self.shares))

    @cached_property
    def _joint(self) -> tuple[Array, Array]:
        joint = self.likelihood * self.shares
        return joint, joint.sum(axis=1, keepdims=True)

    @cached_property
    def belief(self) -> Array:
        """Chance of each share of each worker, shape (workers, grid)."""
        joint, whole = self._joint
        return np.asarray(joint / whole)

    @property
    def log_likelihood(self) -> float:
        """Of all votes, whatever the shares are; of its power, over `evidence`."""
        return (self.log_scale + float(np.log(self._joint[1]).sum())) / self.evidence

    def derivatives(self, group: NDArray[np.int64], slope: Array, curve: Array) -> None:
        """Add those of minus the log-likelihood: slope by group of workers, and curvature by pair.

        Shapes (groups, items), in the scores, and (pairs,), in their difference with beliefs held.
        """
        votes = self.votes
        crowd_slopes(
            votes.winner,
            votes.loser,
            votes.weight,
            votes.first,
            votes.pair,
            group,
            self.chance,
            self.belief,
            _RARE,
            slope,
            curve,
        )

    def of_distribution(self, items: int) -> tuple[Array, Array]:
        """How much the distribution of the shares, which is estimated too, moves scores, and how sure it is.

        Second derivatives of minus the log-likelihood and the prior of the shares, where shares are those
        here times exp(t . direction) over the sum: in the scores and t, shape (items, directions), and in t
        twice, (directions, directions). The directions are the mean share and how many workers are perfect,
        which make nearly all of the difference.
        """
        votes, belief = self.votes, self.belief
        directions = np.stack([SHARES, SHARES == 1.0])
        slope, curve = np.zeros((len(directions), items)), np.zeros(int(votes.pair.max(initial=-1)) + 1)
        for at, direction in enumerate(directions):
            change = belief * (direction - (belief @ direction)[:, None])  # of beliefs with t
            group = np.full(len(votes.counts), at, dtype=np.int64)
            rows = (votes.winner, votes.loser, votes.weight, votes.first, votes.pair, group)
            crowd_slopes(*rows, self.chance, change, -np.inf, slope, curve)

        def covariances(chances: Array) -> Array:  # of the directions, summed over rows
            mean = chances @ directions.T
            return np.asarray((directions * chances.sum(axis=0)) @ directions.T - mean.T @ mean)

        named = votes.code >= 0  # others do not count in the distribution of the shares
        information = (named.sum() + PULL) * covariances(self.shares[None]) - covariances(belief[named])
        return np.ascontiguousarray(slope.T), information


def distribution(likelihood: Array, start: Array) -> Array:
    """The distribution of shares by empirical Bayes: those of the workers, pulled to the usual one.

    Maximizes the sum over workers of log(likelihood' shares) plus PULL times USUAL' log(shares), which is
    strictly concave: EM comes to the same, in a thousand steps. Newton's method with a Lagrangian term (the
    number of workers and PULL together, times the sum of shares) needs no constraint for shares to sum to 1.
    Shares that are to fall far do so at their own pace (the positive part of the slope on the diagonal, which
    vanishes at the end), where they would make the steps of all others short.

    Parameters
    ----------
    likelihood
        Of each worker's votes given a share, up to a factor, shape (workers, grid).
    start
        Shares to begin at, all above 0.
    """
    pull, many, shares = PULL * USUAL, len(likelihood) + PULL, start

    def loss(shares: Array, whole: Array) -> float:
        return float(many * shares.sum() - np.log(whole).sum() - pull @ np.log(shares))

    whole = likelihood @ shares
    now = loss(shares, whole)
    for _ in range(_STEPS):
        part = likelihood / whole[:, None]
        slope = many * shares - shares * (np.ones(len(whole)) @ part) - pull
        curve = (part.T @ part) * np.outer(shares, shares) + np.diag(pull + np.maximum(slope, 0.0))
        step = -np.linalg.solve(curve, slope)  # relative to shares
        length = min(1.0, _INSIDE / max(-float(step.min()), _INSIDE))
        for _ in range(_HALVINGS):
            moved = shares * (1 + length * step)
            whole = likelihood @ moved
            after = loss(moved, whole)
            if after <= now + _ROUNDING * abs(now):
                break
            length /= 2
        shares, now = moved, after
        if np.abs(step).max() <= _SETTLED:
            break
    return np.asarray(shares / shares.sum())
