"""The prior of the scores that predicts votes left out best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from optiframe.records.fields import Array
from optiframe_hodgerank.votes.covariates import CovariateVotes
from optiframe_hodgerank.votes.maximum import Likelihood, Point, maximum
from optiframe_hodgerank.votes.tally import Tally

_PSEUDO_TIES = (0.1, 0.3, 1.0, 3.0)  # on every compared pair
_FOLDS = 3
_PLENTY = 100.0  # votes an item, on both sides together, from which a prior hardly matters
_NEAR = 1e-3  # of scores: predictions within this are the same
_ROUGH = 0.2  # of the last step, where only the variance of scores, or a start, is wanted
_FAINT = 1e-12  # information that is as good as none
_LEAST_VARIANCE = 1e-2  # of scores in log-odds: below, all items are as good as equal
_SPREADS = 0.1 * 2.0 ** np.arange(6)
"""Standard deviations of scores in log-odds, as likely at first: from nearly equal to odds of 25 to 1."""
_MANY = 200  # items beyond which the spread of their scores is as good as known


class ScorePrior(NamedTuple):
    """Pseudo-ties on every compared pair, or 1/sigma^2 of normal scores; and how it was found, in words."""

    pseudo_ties: float
    precision: float
    why: str


def nearly(votes: Tally, covariates: CovariateVotes | None = None) -> Point:
    """About where the likelihood of Bradley-Terry is largest."""
    likelihood = Likelihood(votes, "half", _PSEUDO_TIES[1], covariates=covariates)
    return maximum(likelihood, enough=_ROUGH).next()


def chosen(votes: Tally, rng: np.random.Generator) -> ScorePrior:
    """Of pseudo-ties and normal scores, what gives the least log-loss over three folds of the votes.

    Whole weights are dealt out vote by vote, fractions evenly. Where votes are plenty, normal scores are
    taken without a comparison, which costs some 15 fits of Bradley-Terry to the votes of two folds.
    """
    first = nearly(votes)
    normal = ScorePrior(0.0, _precision(first), "normal scores: votes are plenty")
    if 2 * (votes.won + votes.lost).sum() >= _PLENTY * votes.items:
        return normal
    choices = [ScorePrior(ties, 0.0, f"{ties:g} ties added to every compared pair") for ties in _PSEUDO_TIES]
    choices.append(normal._replace(why="normal scores"))
    won, lost = _folds(votes.won, rng), _folds(votes.lost, rng)
    losses = np.zeros(len(choices))
    for fold in range(_FOLDS):
        kept = votes._replace(won=votes.won - won[fold], lost=votes.lost - lost[fold])
        theta = first.theta
        for at, prior in enumerate(choices):
            likelihood = Likelihood(kept, "half", prior.pseudo_ties, prior.precision)
            theta = maximum(likelihood, theta, enough=_NEAR).theta
            d = votes.differences(theta)
            losses[at] += won[fold] @ np.logaddexp(0.0, -d) + lost[fold] @ np.logaddexp(0.0, d)
    best = choices[int(losses.argmin())]
    why = f"{best.why}: least log-loss of {len(choices)} priors over {_FOLDS} folds"
    return best._replace(why=why)


def errors(point: Point) -> Array:
    """Standard errors of the scores of this maximum, which also hold what is not known of the prior.

    A prior that is chosen from few votes may be far too narrow, and errors that take it for granted are too
    small. So this is the root mean square distance of the true scores from these, shape (items,), where
    scores are normal with one of six standard deviations from 0.1 to 3.2, each as likely as the votes make it
    (Laplace's approximation). Of more than 200 items, the errors are those by the prior alone.
    """
    votes = point.of.votes
    if votes.items > _MANY:
        return point.errors()
    scores, theta = point.centred(), point.theta
    log_chance, squared = np.empty(len(_SPREADS)), np.empty((len(_SPREADS), votes.items))
    for at, precision in enumerate(_SPREADS**-2.0):
        of_spread = maximum(Likelihood(votes, precision=precision), theta, enough=_NEAR)
        theta = of_spread.theta
        volume = votes.items * np.log(precision) - of_spread.curvature.log_determinant()
        log_chance[at] = volume / 2 - of_spread.loss
        squared[at] = of_spread.errors() ** 2 + (of_spread.centred() - scores) ** 2
    return np.asarray(np.sqrt(softmax(log_chance) @ squared))


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


def _folds(count: Array, rng: np.random.Generator) -> Array:
    """Each pair's votes dealt out at random, shape (folds, pairs)."""
    whole = np.floor(count).astype(np.int64)
    dealt = rng.multinomial(whole, [1 / _FOLDS] * _FOLDS).T
    return np.asarray(dealt + (count - whole) / _FOLDS)
