"""Scores and workers' shares together: the likelihood of CrowdBT with shares summed out, and steps up it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from optiframe.records.fields import Array
from optiframe_hodgerank.kernels.votes import crowd_doubt
from optiframe_hodgerank.votes.curvature import Curvature, JointCurvature
from optiframe_hodgerank.votes.tally import Tally
from optiframe_hodgerank.votes.workers import PULL, USUAL, Posterior, WorkerVotes

PRECISION = 0.1
"""1/variance of normal scores: items are within odds of 1:500 to 500:1 of the average, nearly always.

The variance is not estimated. Reliable workers and close items make the same votes as unreliable workers and
items far apart, but for the shape of the logistic function; an estimated variance, which follows scores that
it shrinks, took most crowds for too reliable and items for too close.
"""
_SHARE = 0.3  # of the curvature of plain Bradley-Terry that a pair keeps: longer steps may overshoot
_SMALL = 0.02  # a change of scores from which on the matrix that steps divide by is kept
_ROUGH = 1e-3  # relative residual of a step, which later ones correct
_HALVINGS = 10  # of a step that lowers the likelihood
_ROUNDING = 1e-12  # of the likelihood, relative to it
_STRETCH, _FINE = 2.0, 1e-3  # of the logarithm of a scale: the most, and the error
_SECANTS = 5  # steps that correct the next ones
_FLAT = 1e-6  # cosine of a step and the change of the slope from which on it corrects
RARE = 1e-3
"""A chance of a share that adds nothing to what is not known of a worker."""


@dataclass(frozen=True, eq=False)
class CrowdLikelihood:
    """The votes, counted by pair and in order of workers, and 1/variance of normal scores.

    With `evidence` e below 1 the likelihood of a worker's votes, whose share is summed out, is that of the
    votes given each share to the power e, and the whole to the power 1/e: scores are found as before, while
    beliefs about workers follow n votes as if they were n e. How far apart scores are then says nothing that
    compares with e = 1, so that `CrowdPoint.whole` stretches them.
    """

    pairs: Tally
    votes: WorkerVotes
    precision: float = PRECISION
    evidence: float = 1.0

    def start(self, theta: Array) -> CrowdPoint:
        """What the votes say at these scores, with the shares of workers that these make likeliest."""
        workers = Posterior.at(self.votes, self.leads(theta), USUAL, self.evidence).with_likeliest_shares()
        return CrowdPoint(self, theta, workers)

    def leads(self, theta: Array) -> Array:
        """Scores of what the votes' codes stand for."""
        return theta

    def of_parameters(self, slope: Array) -> Array:
        """A slope in `leads` as one in the scores, shapes (leads, ...) and (items, ...)."""
        return slope

    def derivatives(self, workers: Posterior, group: NDArray[np.int64], groups: int) -> tuple[Array, Array]:
        """Of what votes say: slope by group of workers, (items, groups), and curvature by pair."""
        slope, curve = np.zeros((groups, self.pairs.items)), np.zeros(len(self.pairs.left))
        workers.derivatives(group, slope, curve)
        return np.ascontiguousarray(slope.T), curve

    def usual(self, theta: Array) -> Array:
        """Curvature by pair if all workers were reliable."""
        return self.pairs.terms(theta).curve

    def curvature(self, weight: Array, less: Array | None = None) -> Curvature | JointCurvature:
        """The matrix of these weights of pairs, with the prior's, less another matrix."""
        pairs = self.pairs
        return Curvature(
            pairs.items,
            pairs.left,
            pairs.right,
            weight,
            pairs.component,
            ridge=self.precision,
            less=less,
        )

    def doubt(self, workers: Posterior) -> Array:
        """Variance of the slope over workers' shares, summed over workers: the lower half, (items, items)."""
        votes, found = self.votes, np.zeros((self.pairs.items, self.pairs.items))
        rows = votes.winner, votes.loser, votes.weight, votes.first
        crowd_doubt(*rows, workers.chance, workers.belief, RARE, found)
        return found


@dataclass(frozen=True, eq=False)
class CrowdPoint:
    """Scores, which effects of covariates may follow, and what votes say there of workers."""

    of: CrowdLikelihood
    theta: Array
    workers: Posterior

    def moved(self, theta: Array) -> CrowdPoint:
        """With these scores, and the same distribution of shares."""
        workers = Posterior.at(self.of.votes, self.of.leads(theta), self.workers.shares, self.of.evidence)
        return replace(self, theta=theta, workers=workers)

    @cached_property
    def scale(self) -> float:
        """What scores are multiplied by for votes to be likeliest, each for itself; 1 where each is."""
        if self.of.evidence == 1.0:
            return 1.0
        of = replace(self.of, evidence=1.0)
        found = minimize_scalar(
            lambda log: of.start(np.exp(log) * self.theta).loss,
            bounds=(-_STRETCH, _STRETCH),
            method="bounded",
            options={"xatol": _FINE},
        )
        return float(np.exp(found.x))

    @cached_property
    def whole(self) -> CrowdPoint:
        """These scores times `scale`, and what votes say of workers there, each for itself."""
        if self.of.evidence == 1.0:
            return self
        return replace(self.of, evidence=1.0).start(self.scale * self.theta)

    def updated(self) -> CrowdPoint:
        """With the distribution of shares that the scores suggest."""
        return replace(self, workers=self.workers.with_likeliest_shares())

    @cached_property
    def loss(self) -> float:
        """Minus the logarithm of likelihood and priors."""
        scores = self.of.precision / 2 * float(self.theta @ self.theta)
        shares = PULL / self.of.evidence * float(USUAL @ np.log(self.workers.shares))
        return scores - self.workers.log_likelihood - shares

    @cached_property
    def _of_votes(self) -> tuple[Array, Array]:
        """Slope and curvature of what votes say."""
        alone = np.zeros(len(self.of.votes.counts), np.int64)
        slope, curve = self.of.derivatives(self.workers, alone, 1)
        return slope[:, 0], curve

    @property
    def slope(self) -> Array:
        """Of the loss in the scores, shape (items,)."""
        return np.asarray(self._of_votes[0] + self.of.precision * self.theta)

    @property
    def weights(self) -> Array:
        """Curvature of the loss in each pair's difference, beliefs about workers held, shape (pairs,)."""
        return self._of_votes[1]

    @cached_property
    def steady(self) -> Array:
        """`weights`, kept off zero: those of the matrix that a step divides by."""
        return np.asarray(np.maximum(self.weights, _SHARE * self.of.usual(self.theta)))


def climb(start: CrowdPoint) -> Iterator[tuple[CrowdPoint, float]]:
    """Points of rising likelihood, and the largest change of a score that led to each.

    Scores move by a Newton step in which beliefs about workers are held, corrected by what earlier steps
    showed of how the slope changes when they are not (limited-memory BFGS). Then the distribution of shares
    follows by empirical Bayes.
    """
    point, size, secants = start, np.inf, Secants(_SECANTS)
    while True:
        if size > _SMALL:  # later, what beliefs do to the steps matters more than how the matrix changes
            matrix = point.of.curvature(point.steady)
        step = -secants.solve(lambda b: matrix.solve(b, _ROUGH), point.slope)  # noqa: B023
        for _ in range(_HALVINGS):
            after = point.moved(point.theta + step)
            if after.loss <= point.loss + _ROUNDING * max(abs(point.loss), 1.0):
                break
            step = step / 2
        size = float(np.abs(step).max(initial=0.0))
        after = after.updated()
        secants.add(step, after.slope - point.slope)
        point = after
        yield point, size


class Secants:
    """An inverse matrix corrected by the last steps and the changes of the slope that they made (L-BFGS)."""

    def __init__(self, most: int) -> None:
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=most)

    def add(self, step: Array, change: Array) -> None:
        """Correct by a step and its change of the slope, unless the curvature along it is not positive."""
        product = float(step @ change)
        if product > _FLAT * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self._pairs.append((step, change, product))

    def solve(self, inverse: Callable[[Array], Array], slope: Array) -> Array:
        """The corrected inverse times a slope (Nocedal and Wright 2006, Algorithm 7.4)."""
        parts = []
        for step, change, product in reversed(self._pairs):
            parts.append(float(step @ slope) / product)
            slope = slope - parts[-1] * change
        found = inverse(slope)
        for (step, change, product), part in zip(self._pairs, reversed(parts), strict=True):
            found = found + (part - float(change @ found) / product) * step
        return found
