"""Models of a vote that may be a tie: how likely each outcome is, given the difference of two scores.

A model has at most one parameter besides the difference d, here called `tie`: of Davidson's model the
logarithm of a rate, of Rao and Kupper's a threshold. A larger one means more ties. The losses are convex
in d and `tie` together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import expit

from optiframe.records.fields import Array

TieModel = Literal["davidson", "rao-kupper", "half"]


class Terms(NamedTuple):
    """Minus the log-likelihood of the votes on each pair and its derivatives in d and `tie`."""

    loss: Array
    d: Array
    dd: Array
    tie: Array
    d_tie: Array
    tie_tie: Array


class Outcomes(NamedTuple):
    """Chance that the left item wins, that neither does and that the right one does."""

    win: Array
    tie: Array
    loss: Array


def half(won: Array, lost: Array, tied: Array, d: Array, tie: float) -> Terms:
    """Bradley-Terry, a tie counting as half a win of each."""
    won, lost, nothing = won + tied / 2, lost + tied / 2, np.zeros_like(d)
    total, small = won + lost, np.exp(-np.abs(d))  # one exponential serves all
    likely = 1.0 / (1.0 + small)
    unlikely, ahead = small * likely, d > 0
    slope = np.where(ahead, lost * likely - won * unlikely, lost * unlikely - won * likely)
    value = total * np.log1p(small) + np.where(ahead, lost, -won) * d
    return Terms(value, slope, total * likely * unlikely, nothing, nothing, nothing)


def davidson(won: Array, lost: Array, tied: Array, d: Array, tie: float) -> Terms:
    """Davidson 1970: odds of win, tie and loss are exp(d/2) : exp(tie) : exp(-d/2)."""
    total, small, rate = won + lost + tied, np.exp(-np.abs(d) / 2), np.exp(tie)
    whole = 1.0 + small * (small + rate)  # over the likelier side's odds
    upper, draw = 1.0 / whole, rate * small / whole
    lower = small * small * upper
    win, loss = np.where(d > 0, upper, lower), np.where(d > 0, lower, upper)
    ahead = win - loss
    return Terms(
        total * (np.log(whole) + np.abs(d) / 2) - (won - lost) * d / 2 - tied * tie,
        (total * ahead - (won - lost)) / 2,
        total * (win + loss - ahead * ahead) / 4,
        total * draw - tied,
        -total * ahead * draw / 2,
        total * draw * (1 - draw),
    )


def rao_kupper(won: Array, lost: Array, tied: Array, d: Array, tie: float) -> Terms:
    """Rao and Kupper 1967: a side wins that is ahead by `tie`, above 0, but for logistic noise."""
    if tie <= 0:
        return Terms(*(np.full_like(d, np.inf) for _ in Terms._fields))
    above, below = d - tie, d + tie
    first, second = expit(above), expit(below)
    rest = -2.0 / np.expm1(2.0 * tie)  # the slope of -log(1 - exp(-2 tie)), which is in the chance of a tie
    up, down = tied * first - won * (1 - first), lost * second - tied * (1 - second)
    curve_up, curve_down = (won + tied) * first * (1 - first), (lost + tied) * second * (1 - second)
    value = (
        won * np.logaddexp(0.0, -above)
        + lost * np.logaddexp(0.0, below)
        + tied * (np.logaddexp(0.0, above) + np.logaddexp(0.0, -below) - np.log(-np.expm1(-2.0 * tie)))
    )
    return Terms(
        value,
        up + down,
        curve_up + curve_down,
        down - up + tied * rest,
        curve_down - curve_up,
        curve_up + curve_down + tied * rest * rest * np.exp(2.0 * tie),
    )


MODELS: dict[TieModel, Callable[[Array, Array, Array, Array, float], Terms]] = {
    "davidson": davidson,
    "rao-kupper": rao_kupper,
    "half": half,
}


def usual(model: TieModel, share: float) -> float:
    """`tie` at which this share of the votes on equal items are ties."""
    return float(
        np.log(2 * share / (1 - share)) if model == "davidson" else np.log((1 + share) / (1 - share))
    )


class VoteModel(NamedTuple):
    """How scores become chances: the model of ties and its parameter."""

    ties: TieModel
    tie: float

    def chances(self, difference: Array) -> Outcomes:
        """Chances of a vote, given the score of the left item minus that of the right one.

        With "half" a tie is no outcome of its own and has the chance 0.
        """
        d = np.asarray(difference, dtype=np.float64)
        one, none = np.ones_like(d), np.zeros_like(d)
        if self.ties == "half":
            return Outcomes(expit(d), none, expit(-d))
        model, outcomes = MODELS[self.ties], ((one, none, none), (none, none, one), (none, one, none))
        return Outcomes(*(np.exp(-model(won, lost, tied, d, self.tie).loss) for won, lost, tied in outcomes))

    def surprise(self, margin: Array, difference: Array) -> Array:
        """-log of the chance of each outcome, the sign of a margin; a tie of "half" is half of each."""
        if self.ties == "half":
            d = np.abs(difference)
            likelier = np.sign(difference) * np.sign(margin)  # 1 where the likelier side won, 0 for a tie
            return np.asarray(np.log1p(np.exp(-d)) + d * (1 - likelier) / 2)
        won, lost, tied = ((np.sign(margin) == y).astype(np.float64) for y in (1, -1, 0))
        return MODELS[self.ties](won, lost, tied, difference, self.tie).loss
