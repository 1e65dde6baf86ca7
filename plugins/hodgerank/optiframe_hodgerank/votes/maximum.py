"""The maximum of the likelihood of votes, with a prior, by damped Newton steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.votes.curvature import Curvature
from optiframe_hodgerank.votes.tally import Tally
from optiframe_hodgerank.votes.tie_models import MODELS, Terms, TieModel, VoteModel, half, usual

_DECREASE = 1e-4  # share of the predicted decrease a step must reach (Armijo), as usual for Newton's method
_ROUNDING = 4 * float(np.finfo(np.float64).eps)  # of a sum of logarithms, relative to it
_HALVINGS = 40  # of a step: 2^-40 of a Newton step no longer changes scores within rounding
_EXTRA = np.array([0.25]), np.array([0.25]), np.array([0.5])
"""One vote on two equal items, half of it a tie: keeps the parameter for ties finite where all votes tie."""
_STRIDE = 1.0  # of `tie` in one step while scores stay
_STEPS = 100  # of Newton's method in `maximum`; five to ten suffice but for items that never win


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Minus the logarithm of the likelihood of votes times a prior, as a function of scores and `tie`.

    Parameters
    ----------
    votes
        The votes on each pair.
    ties
        What a tie says; a model with a parameter only matters where there are ties.
    pseudo_ties
        Half wins of both sides added to every compared pair, as votes that are never ties.
    precision
        1/sigma^2 of a normal prior of the scores; 0: none.
    """

    votes: Tally
    ties: TieModel = "half"
    pseudo_ties: float = 0.0
    precision: float = 0.0

    @cached_property
    def model(self) -> TieModel:
        """The model of ties, "half" where nothing tied."""
        return self.ties if self.votes.tied.any() else "half"

    def start(self) -> Point:
        """All scores equal, and ties as usual as in the votes."""
        votes, tie = self.votes, 0.0
        if self.model != "half":
            share = votes.tied.sum() / (votes.won + votes.lost + votes.tied).sum()
            tie = usual(self.model, min(float(share), 0.99))
        return self.at(np.zeros(votes.items), tie)

    def settled(self, theta: Array) -> Point:
        """What is known at these scores, with `tie` where the likelihood is largest."""
        point = self.at(theta, self.start().tie)
        for _ in range(_STEPS):
            if self.model == "half" or abs(point.slope_tie) <= _ROUNDING * max(point.loss, 1.0):
                break
            change = float(np.clip(point.slope_tie / point.curve_tie, -_STRIDE, _STRIDE))
            tie = point.tie - change
            point = self.at(theta, max(tie, point.tie / 2) if self.model == "rao-kupper" else tie)
        return point

    def terms(self, theta: Array, tie: float) -> Terms:
        """Loss and derivatives of each pair, the pseudo-ties counted in."""
        votes, d = self.votes, self.votes.differences(theta)
        if self.model == "half":
            return half(votes.won, votes.lost, votes.tied + self.pseudo_ties, d, tie)
        found = MODELS[self.model](votes.won, votes.lost, votes.tied, d, tie)
        if self.pseudo_ties:
            more = half(np.zeros_like(d), np.zeros_like(d), np.full_like(d, self.pseudo_ties), d, tie)
            found = found._replace(loss=found.loss + more.loss, d=found.d + more.d, dd=found.dd + more.dd)
        return found

    def at(self, theta: Array, tie: float) -> Point:
        """What is known at these scores."""
        with np.errstate(invalid="ignore"):
            return self._at(theta, tie)

    def _at(self, theta: Array, tie: float) -> Point:
        terms = self.terms(theta, tie)
        loss = float(terms.loss.sum()) + self.precision / 2 * float(theta @ theta)
        slope = self.votes.divergence(terms.d) + self.precision * theta
        if self.model == "half":
            return Point(self, theta, tie, loss, slope, terms.dd)
        extra = MODELS[self.model](*_EXTRA, np.zeros(1), tie)
        return Point(
            self,
            theta,
            tie,
            loss + float(extra.loss[0]),
            slope,
            terms.dd,
            float(terms.tie.sum() + extra.tie[0]),
            float(terms.tie_tie.sum() + extra.tie_tie[0]),
            self.votes.divergence(terms.d_tie),
        )


@dataclass(frozen=True, eq=False)
class Point:
    """Scores, `tie`, and the likelihood's value, slope and curvature there; the Newton step on first use."""

    of: Likelihood
    theta: Array
    tie: float
    loss: float
    slope: Array
    weight: Array
    slope_tie: float = 0.0
    curve_tie: float = 0.0
    cross: Array | None = None

    @cached_property
    def curvature(self) -> Curvature:
        """Second derivatives in the scores, `tie` held."""
        votes = self.of.votes
        return Curvature(
            votes.items,
            votes.left,
            votes.right,
            self.weight,
            votes.component,
            ridge=self.of.precision,
        )

    @cached_property
    def _pull(self) -> tuple[Array, float]:
        """How scores follow `tie`, and the curvature in `tie` once they do."""
        assert self.cross is not None
        follow = self.curvature.solve(self.cross)
        return follow, self.curve_tie - float(self.cross @ follow)

    @cached_property
    def step(self) -> tuple[Array, float]:
        """The Newton step of the scores and of `tie`."""
        scores = self.curvature.solve(-self.slope)
        if self.cross is None:
            return scores, 0.0
        follow, left = self._pull
        tie = -(self.slope_tie + float(self.cross @ scores)) / left
        return scores - tie * follow, tie

    @property
    def residual(self) -> float:
        """The largest change of a score that the Newton step makes."""
        return float(np.max(np.abs(self.step[0]), initial=0.0))

    @property
    def at_rest(self) -> bool:
        """Whether a step changes the likelihood by no more than rounding."""
        return -self._rise <= _ROUNDING * max(self.loss, 1.0)

    @property
    def _rise(self) -> float:
        scores, tie = self.step
        return float(self.slope @ scores) + self.slope_tie * tie

    def next(self) -> Point:
        """After the longest of the halved steps that lowers the loss enough (Armijo's rule)."""
        scores, tie = self.step
        if self.at_rest:
            return self.of.at(self.theta + scores, self.tie + tie)
        length, rounding, rise = 1.0, _ROUNDING * max(self.loss, 1.0), self._rise
        after = self
        for _ in range(_HALVINGS):
            after = self.of.at(self.theta + length * scores, self.tie + length * tie)
            if after.loss <= self.loss + _DECREASE * length * rise + rounding:
                break
            length /= 2
        return after

    def errors(self) -> Array:
        """Standard errors of the scores, by the inverse of the information of votes and prior, (items,)."""
        known = self.curvature.inverse_diagonal()
        if self.cross is not None:
            follow, left = self._pull
            known = known + follow * follow / left
        return np.asarray(np.sqrt(np.maximum(known, 0.0)))

    @property
    def vote_model(self) -> VoteModel:
        """How scores become chances."""
        return VoteModel(self.of.model, self.tie)

    def centred(self) -> Array:
        """The scores moved to sum zero within each component."""
        component = self.of.votes.component
        means = np.bincount(component, self.theta) / np.bincount(component)
        return np.asarray(self.theta - means[component])


def newton(likelihood: Likelihood, start: Point | None = None) -> Iterator[tuple[Point, bool]]:
    """Points after each step, and whether the step before no longer changed the likelihood."""
    point = likelihood.start() if start is None else start
    while True:
        # Not the slope: where votes decide nothing, it is small far from the maximum.
        last = point.at_rest
        point = point.next()
        yield point, last


def without_workers(likelihood: Likelihood) -> Iterator[tuple[Point, float]]:
    """As `newton`, with the residual of each point; 0 and the end where no step changes the likelihood."""
    for point, last in newton(likelihood):
        yield point, 0.0 if last else point.residual


def maximum(likelihood: Likelihood, start: Array | None = None, *, enough: float = 1e-8) -> Point:
    """The scores at which the likelihood is largest, but for `enough` in each."""
    first = None if start is None else likelihood.at(start, likelihood.start().tie)
    for made, (point, last) in enumerate(newton(likelihood, first)):
        if last or point.residual <= enough or made >= _STEPS:
            return point
    raise AssertionError  # newton never ends
