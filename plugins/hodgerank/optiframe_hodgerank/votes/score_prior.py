"""How far scores may spread: the prior that votes by nobody in particular make likely."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe_hodgerank.votes.covariates import CovariateVotes
from optiframe_hodgerank.votes.maximum import Likelihood, Point, maximum
from optiframe_hodgerank.votes.tally import Tally

_TIES = 0.3  # on every compared pair, for a first fit
_PLENTY = 100.0  # votes an item, on both sides together, from which a prior hardly matters
_NEAR = 1e-3  # of scores: predictions within this are the same
_ROUGH = 0.2  # of the last step, where only the variance of scores, or a start, is wanted
_FAINT = 1e-12  # information that is as good as none
_LEAST_VARIANCE = 1e-2  # of scores in log-odds: below, all items are as good as equal
_SPREADS = 0.1 * 2.0 ** np.arange(6)
"""Standard deviations of scores in log-odds, from nearly equal to odds of 25 to 1."""
_MANY = 200  # items beyond which the spread of their scores is as good as known


class ScorePrior(NamedTuple):
    """1/sigma^2 of normal scores; and how it was found, in words."""

    precision: float
    why: str


def nearly(votes: Tally, covariates: CovariateVotes | None = None) -> Point:
    """About where the likelihood of Bradley-Terry is largest."""
    likelihood = Likelihood(votes, "half", _TIES, covariates=covariates)
    return maximum(likelihood, enough=_ROUGH).next()


def chosen(votes: Tally) -> ScorePrior:
    """Normal scores as wide as the votes make likely: the mean over six spreads (`_by_spread`).

    Where votes are plenty, it is the variance of a first fit less what noise adds, which saves some six fits.
    """
    first = nearly(votes)
    if 2 * (votes.won + votes.lost).sum() >= _PLENTY * votes.items:
        return ScorePrior(_precision(first), "normal scores: votes are plenty")
    chance, _ = _by_spread(votes, first.theta)
    spread = float(chance @ _SPREADS)
    why = f"normal scores of deviation {number(spread)}, which the votes make likely"
    return ScorePrior(1 / spread**2, why)


def errors(point: Point) -> Array:
    """Standard errors of the scores of this maximum, which also hold what is not known of the prior.

    Few votes say little about how far scores spread, and errors that take it for granted are too small. So
    this is the root mean square distance of the true scores from these, shape (items,), where the spread is
    any of six (`_by_spread`). Of more than 200 items, the errors are those by the prior alone.
    """
    votes = point.of.votes
    if votes.items > _MANY:
        return point.errors()
    chance, points = _by_spread(votes, point.theta)
    squared = [of.errors() ** 2 + (of.centred() - point.centred()) ** 2 for of in points]
    return np.asarray(np.sqrt(chance @ np.array(squared)))


def _by_spread(votes: Tally, theta: Array) -> tuple[Array, list[Point]]:
    """How likely the votes make each of six standard deviations of normal scores, and the scores with each.

    From 0.1 to 3.2, by Laplace's approximation. Before the votes their logarithms are standard normal, so
    that 1 is the likeliest.
    """
    log_chance, points = -(np.log(_SPREADS) ** 2) / 2, []
    for at, precision in enumerate(_SPREADS**-2.0):
        point = maximum(Likelihood(votes, precision=precision), theta, enough=_NEAR)
        volume = votes.items * math.log(precision) - point.curvature.log_determinant()
        log_chance[at] += volume / 2 - point.loss
        theta = point.theta
        points.append(point)
    return softmax(log_chance), points


def _precision(first: Point) -> float:
    """1/sigma^2 of the scores: their variance in a first fit less what noise adds."""
    noise = 1.0 / np.maximum(_information(first.of.votes, first.weight), _FAINT)
    scores = first.centred()
    return 1.0 / max(float(np.mean(scores * scores)) - float(np.median(noise)), _LEAST_VARIANCE)


def _information(votes: Tally, weight: Array) -> Array:
    return np.asarray(
        np.bincount(votes.left, weight, votes.items) + np.bincount(votes.right, weight, votes.items),
        dtype=np.float64,
    )
