"""The maximum of the likelihood of votes, with a prior, by damped Newton steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.votes.covariates import CovariateVotes
from optiframe_hodgerank.votes.curvature import Curvature
from optiframe_hodgerank.votes.newton import ROUNDING, NewtonPoint, newton
from optiframe_hodgerank.votes.tally import Tally
from optiframe_hodgerank.votes.tie_models import MODELS, Terms, TieModel, VoteModel, half, usual

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
    covariates
        The same votes by their covariates, whose effects are then found with the scores. The pseudo-ties are
        without covariates; each effect has as many on two equal items that differ by 1 in its covariate.
    """

    votes: Tally
    ties: TieModel = "half"
    pseudo_ties: float = 0.0
    precision: float = 0.0
    covariates: CovariateVotes | None = None

    @cached_property
    def model(self) -> TieModel:
        """The model of ties, "half" where nothing tied."""
        return self.ties if self.votes.tied.any() else "half"

    @cached_property
    def _halved(self) -> Tally:
        """The votes, each tie as half a win of both."""
        votes = self.votes
        return votes._replace(won=votes.won + votes.tied / 2, lost=votes.lost + votes.tied / 2)

    def start(self) -> Point:
        """All scores equal, no effects, and ties as usual as in the votes."""
        return self.at(np.zeros(self.votes.items))

    def _usual_tie(self) -> float:
        """`tie` at which equal items tie as often as all votes."""
        if self.model == "half":
            return 0.0
        votes = self.votes
        share = votes.tied.sum() / (votes.won + votes.lost + votes.tied).sum()
        return usual(self.model, min(float(share), 0.99))

    def settled(self, theta: Array, effects: Array | None = None) -> Point:
        """What is known at these scores and effects, with `tie` where the likelihood is largest."""
        point = self.at(theta, effects=effects)
        for _ in range(_STEPS):
            if self.model == "half" or abs(point.slope_more[-1]) <= ROUNDING * max(point.loss, 1.0):
                break
            newton_step = point.slope_more[-1] / point.curve_more[-1, -1]
            tie = point.tie - float(np.clip(newton_step, -_STRIDE, _STRIDE))
            tie = max(tie, point.tie / 2) if self.model == "rao-kupper" else tie
            point = self.at(theta, tie, effects)
        return point

    def at(self, theta: Array, tie: float | None = None, effects: Array | None = None) -> Point:
        """What is known at these scores; without `tie` and effects, with ties as usual and no effects."""
        tie = self._usual_tie() if tie is None else tie
        with np.errstate(invalid="ignore"):
            return self._at(theta, tie, effects)

    def _at(self, theta: Array, tie: float, effects: Array | None) -> Point:
        votes, rows, parametric = self.votes, self.covariates, self.model != "half"
        if rows is None and not parametric:
            loss, slope, weight = self._halved.terms(theta, self.pseudo_ties)
            loss += self.precision / 2 * float(theta @ theta)
            return Point(self, theta, tie, np.zeros(0), loss, slope + self.precision * theta, weight)
        d, pseudo_ties = votes.differences(theta), self.pseudo_ties
        if rows is None:
            effects = np.zeros(0)
            terms = MODELS[self.model](votes.won, votes.lost, votes.tied, d, tie)
            flow, weight, cross = terms.d, terms.dd, [terms.d_tie]
        else:
            effects = np.zeros(rows.z.shape[1]) if effects is None else effects
            of_row = d[rows.pair] + rows.z @ effects
            terms = MODELS[self.model](rows.won, rows.lost, rows.tied, of_row, tie)
            columns = (terms.d, terms.dd, *(terms.dd * z for z in rows.z.T), terms.d_tie)
            flow, weight, *cross = (_sums(rows.pair, column, len(d)) for column in columns)
        loss = float(terms.loss.sum()) + self.precision / 2 * float(theta @ theta)
        if pseudo_ties:
            prior = _pseudo(pseudo_ties, d)
            loss, flow, weight = loss + float(prior.loss.sum()), flow + prior.d, weight + prior.dd
        slope = votes.divergence(flow) + self.precision * theta
        more = len(effects) + parametric
        slope_more, curve_more = np.zeros(more), np.zeros((more, more))
        if rows is not None:
            some, diagonal = slice(len(effects)), np.arange(len(effects))
            prior = _pseudo(self.pseudo_ties, effects)
            loss += float(prior.loss.sum())
            slope_more[some] = rows.z.T @ terms.d + prior.d
            curve_more[some, some] = rows.z.T @ (terms.dd[:, None] * rows.z)
            curve_more[diagonal, diagonal] += prior.dd
        if parametric:
            extra = MODELS[self.model](*_EXTRA, np.zeros(1), tie)
            loss += float(extra.loss[0])
            slope_more[-1] = terms.tie.sum() + extra.tie[0]
            curve_more[-1, -1] = terms.tie_tie.sum() + extra.tie_tie[0]
            if rows is not None:
                curve_more[-1, :-1] = curve_more[:-1, -1] = rows.z.T @ terms.d_tie
        shared = np.column_stack([votes.divergence(each) for each in cross[:more]])
        return Point(self, theta, tie, effects, loss, slope, weight, slope_more, curve_more, shared)


def _sums(group: NDArray[np.int64], values: Array, groups: int) -> Array:
    return np.asarray(np.bincount(group, values, groups), dtype=np.float64)


def _pseudo(ties: float, d: Array) -> Terms:
    """What so many ties, each half a win of both sides, say at each of these differences."""
    nothing = np.zeros_like(d)
    return half(nothing, nothing, np.full_like(d, ties), d, 0.0)


@dataclass(frozen=True, eq=False)
class Point(NewtonPoint):
    """Where the likelihood is looked at, its value, slope and curvature there; the Newton step on first use.

    Besides the scores there are `more` parameters: the effects of covariates, then `tie`, where the votes
    have such. `slope_more` has shape (more,), `curve_more` (more, more) and `cross`, which is None without
    any, (items, more).
    """

    of: Likelihood
    theta: Array
    tie: float
    effects: Array
    loss: float
    slope: Array
    weight: Array
    slope_more: Array = field(default_factory=lambda: np.zeros(0))
    curve_more: Array = field(default_factory=lambda: np.zeros((0, 0)))
    cross: Array | None = None

    @cached_property
    def curvature(self) -> Curvature:
        """Second derivatives in the scores, the other parameters held."""
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
    def _pull(self) -> tuple[Array, Array]:
        """How scores follow the other parameters, and the inverse of the curvature in these once they do."""
        assert self.cross is not None
        follow = self.curvature.solve(self.cross)
        left = self.curve_more - self.cross.T @ follow
        return follow, np.asarray(np.linalg.inv(left), dtype=np.float64)

    @cached_property
    def step(self) -> tuple[Array, Array]:
        """The Newton step of the scores and of the other parameters."""
        scores = self.curvature.solve(-self.slope)
        if self.cross is None:
            return scores, self.slope_more
        follow, known = self._pull
        more = -known @ (self.slope_more + self.cross.T @ scores)
        return np.asarray(scores - follow @ more), np.asarray(more)

    @property
    def residual(self) -> float:
        """The largest change of a score, or of an effect, that the Newton step makes."""
        scores, more = self.step
        return float(np.abs(np.append(scores, more[: len(self.effects)])).max(initial=0.0))

    @property
    def value(self) -> float:
        return self.loss

    @property
    def rise(self) -> float:
        scores, more = self.step
        return float(self.slope @ scores) + float(self.slope_more @ more)

    def moved(self, length: float) -> Point:
        (scores, more), effects = self.step, len(self.effects)
        tie = self.tie + length * float(more[-1]) if len(more) > effects else self.tie
        return self.of.at(self.theta + length * scores, tie, self.effects + length * more[:effects])

    def errors(self) -> Array:
        """Standard errors of the scores, by the inverse of the information of votes and prior, (items,)."""
        variance = self.curvature.inverse_diagonal()
        if self.cross is not None:
            follow, known = self._pull
            variance = variance + ((follow @ known) * follow).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def covariance_of_effects(self) -> Array:
        """Of the effects, by the same information, shape (effects, effects)."""
        some = slice(len(self.effects))
        return np.asarray(self._pull[1][some, some])

    @property
    def vote_model(self) -> VoteModel:
        """How scores become chances."""
        return VoteModel(self.of.model, self.tie)

    def centred(self) -> Array:
        """The scores moved to sum zero within each component."""
        component = self.of.votes.component
        means = np.bincount(component, self.theta) / np.bincount(component)
        return np.asarray(self.theta - means[component])


def without_workers(likelihood: Likelihood) -> Iterator[tuple[Point, float]]:
    """As `newton`, with the residual of each point; 0 and the end where no step changes the likelihood."""
    for point, last in newton(likelihood.start()):
        yield point, 0.0 if last else point.residual


def maximum(likelihood: Likelihood, start: Array | None = None, *, enough: float = 1e-8) -> Point:
    """The scores at which the likelihood is largest, but for `enough` in each."""
    first = likelihood.start() if start is None else likelihood.at(start)
    for made, (point, last) in enumerate(newton(first)):
        if last or point.residual <= enough or made >= _STEPS:
            return point
    raise AssertionError  # newton never ends
