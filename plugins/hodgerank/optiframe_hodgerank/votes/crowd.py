"""Scores and workers' shares together: the likelihood of CrowdBT with shares summed out, and steps up it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit

from optiframe.records.fields import Array
from optiframe_hodgerank.votes.curvature import Curvature
from optiframe_hodgerank.votes.score_prior import LEAST_VARIANCE, ScorePrior
from optiframe_hodgerank.votes.tally import Tally
from optiframe_hodgerank.votes.tie_models import Terms, half
from optiframe_hodgerank.votes.workers import PULL, USUAL, Pulls, WorkerVotes, pulls, updated

_SHARE = 0.3  # of the curvature of plain Bradley-Terry that a pair keeps: longer steps may overshoot
_SMALL = 0.02  # a change of scores from which on the matrix that steps divide by is kept
_HALVINGS = 10  # of a step that lowers the likelihood
_ROUNDING = 1e-12  # of the likelihood, relative to it


@dataclass(frozen=True, eq=False)
class CrowdLikelihood:
    """The votes, counted by pair and in order of workers, and the prior of the scores."""

    pairs: Tally
    votes: WorkerVotes
    prior: ScorePrior

    def at(self, scores: Array, shares: Array, precision: float) -> CrowdPoint:
        """What the votes say at these scores, with this distribution of shares and this prior of scores."""
        return CrowdPoint(self, scores, shares, precision, pulls(self.votes, scores, shares))

    def start(self, scores: Array) -> CrowdPoint:
        """With shares as they usually are."""
        return self.at(scores, USUAL, self.prior.precision)


@dataclass(frozen=True, eq=False)
class CrowdPoint:
    """Scores, the distribution of shares, the precision of normal scores, and the likelihood there."""

    of: CrowdLikelihood
    theta: Array
    shares: Array
    precision: float
    said: Pulls

    @cached_property
    def loss(self) -> float:
        """Minus the logarithm of likelihood and priors."""
        workers = PULL * float(USUAL @ np.log(self.shares))
        scores = self.precision / 2 * float(self.theta @ self.theta)
        if self._pseudo is not None:
            scores += float(self._pseudo.loss.sum())
        return scores - self.said.log_likelihood - workers

    @cached_property
    def _pseudo(self) -> Terms | None:
        """What the pseudo-ties say; None without any."""
        if not self.of.prior.pseudo_ties:
            return None
        pairs, nothing = self.of.pairs, np.zeros(len(self.of.pairs.left))
        ties = np.full_like(nothing, self.of.prior.pseudo_ties)
        return half(nothing, nothing, ties, pairs.differences(self.theta), 0.0)

    @cached_property
    def slope(self) -> Array:
        """Of the loss in the scores, shape (items,)."""
        votes, items = self.of.votes, self.of.pairs.items
        won = np.bincount(votes.winner, self.said.slope, items)
        slope = np.asarray(np.bincount(votes.loser, self.said.slope, items) - won, dtype=np.float64)
        slope = slope + self.precision * self.theta
        return slope if self._pseudo is None else slope + self.of.pairs.divergence(self._pseudo.d)

    def weights(self) -> Array:
        """Curvature of the loss in each pair's difference, beliefs about workers held, shape (pairs,)."""
        weight = np.asarray(
            np.bincount(self.of.votes.pair, self.said.curve, len(self.of.pairs.left)), dtype=np.float64
        )
        return weight if self._pseudo is None else weight + self._pseudo.dd

    def curvature(self, weight: Array, less: Array | None = None) -> Curvature:
        """The matrix of these weights, with the prior's."""
        pairs = self.of.pairs
        return Curvature(
            pairs.items,
            pairs.left,
            pairs.right,
            weight,
            pairs.component,
            ridge=self.precision,
            less=less,
        )

    @cached_property
    def steady(self) -> Array:
        """`weights`, kept off zero: those of the matrix that a step divides by."""
        pairs = self.of.pairs
        d = pairs.differences(self.theta)
        plain = (pairs.won + pairs.lost) * expit(d) * expit(-d)
        return np.asarray(np.maximum(self.weights(), _SHARE * plain))

    def variance(self) -> float:
        """sigma^2 of normal scores by a step of EM: the mean square of scores, their own variances added."""
        pairs = self.of.pairs
        whole = np.bincount(pairs.left, self.steady, pairs.items)
        whole = whole + np.bincount(pairs.right, self.steady, pairs.items)
        return max(float(np.mean(self.theta**2 + 1.0 / (whole + self.precision))), LEAST_VARIANCE)


def climb(start: CrowdPoint) -> Iterator[tuple[CrowdPoint, float]]:
    """Points of rising likelihood, and the largest change of a score that led to each.

    The distribution of shares and the variance of normal scores are updated by empirical Bayes, scores by
    a Newton step in which beliefs about workers are held; all from the same beliefs.
    """
    point, size = start, np.inf
    while True:
        if size > _SMALL:  # later, what beliefs do to the steps matters more than how the matrix changes
            matrix = point.curvature(point.steady)
        shares = updated(point.of.votes, point.said.of_share)
        step = -matrix.solve(point.slope)
        for _ in range(_HALVINGS):
            after = point.of.at(point.theta + step, shares, point.precision)
            if after.loss <= point.loss + _ROUNDING * max(abs(point.loss), 1.0):
                break
            step = step / 2
        size = float(np.abs(step).max(initial=0.0))
        precision = 1.0 / point.variance() if point.precision else 0.0
        point = replace(after, precision=precision)
        yield point, size
