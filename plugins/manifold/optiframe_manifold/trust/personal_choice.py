"""Whether personal rankings predict better than one ranking for all, by comparisons held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from optiframe.findings import Finding
from optiframe.numbers import number, percent
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns

Rule = Literal["best", "one-standard-error"]
Model = Literal["population", "crowd-bt", "personal"]

_LEVEL = 0.9


@dataclass(frozen=True)
class Candidate:
    """A model to choose: `rank` personal directions (0: none), and the precision of their prior.

    `ridge` is of the population's scores for "population", and nan for "crowd-bt", which chooses its own.
    """

    model: Model
    rank: int
    ridge: float


@dataclass(frozen=True, eq=False)
class Judged:
    """What a candidate predicted of comparisons held out.

    Parameters
    ----------
    candidate
        Which.
    loss, right, weight
        Sums over each user's comparisons in each fold, shape (users, folds): of -log of the chance of the
        choice, of right predictions, and of weights.
    """

    candidate: Candidate
    loss: Array
    right: Array
    weight: Array

    @property
    def mean(self) -> float:
        """Mean log-loss."""
        return float(self.loss.sum() / self.weight.sum())

    @property
    def accuracy(self) -> float:
        """Share of right predictions."""
        return float(self.right.sum() / self.weight.sum())

    @property
    def error(self) -> float:
        """Standard error of `mean`, users being independent; nan for fewer than two."""
        return spread_over_users(self.loss.sum(axis=1), self.weight.sum(axis=1))[1]


@dataclass(frozen=True)
class Gain:
    """How much better personal rankings predict than one ranking for all.

    Log-losses of comparisons held out. In each fold the personal rankings are those that are best in the
    other folds, so that the choice among many candidates does not flatter them.

    Parameters
    ----------
    shared, personal
        Mean log-loss of one ranking for all (of what is served without personal ones), and of personal ones.
    shared_accuracy, personal_accuracy
        Shares of right predictions.
    gain, low, high
        shared - personal, and its 90% interval, over users drawn at random (nan for one user).
    """

    shared: float
    personal: float
    shared_accuracy: float
    personal_accuracy: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PersonalChoice:
    """What was chosen, from what, and how much it helps.

    Parameters
    ----------
    chosen
        The model whose answer is served.
    judged
        All candidates, in the order in which they were tried; empty where there was nothing to choose by.
    gain
        Of personal rankings; None where there were none to compare.
    population
        Scores for users nobody knows, in the unit of the answer, shape (items,); they sum to zero.
    reliability
        Chance that a user nobody knows chooses by these scores: 1 unless "crowd-bt" is served.
    """

    chosen: Candidate
    judged: tuple[Judged, ...]
    gain: Gain | None
    population: Array
    reliability: float = 1.0

    def __repr__(self) -> str:
        what = f"{self.chosen.rank} personal directions" if self.chosen.rank else self.chosen.model
        return f"<chose {what} of {len(self.judged)} candidates>"

    @property
    def rank(self) -> int:
        """Personal directions of what is served; 0: everybody has the same ranking."""
        return self.chosen.rank

    def tables(self) -> dict[str, Columns]:
        """`candidates`: model, rank, ridge, loss, error, accuracy, chosen; the order of trying."""
        return {
            "candidates": {
                "model": np.array([each.candidate.model for each in self.judged], dtype=object),
                "rank": np.array([each.candidate.rank for each in self.judged], dtype=np.int64),
                "ridge": np.array([each.candidate.ridge for each in self.judged]),
                "loss": np.array([each.mean for each in self.judged]),
                "error": np.array([each.error for each in self.judged]),
                "accuracy": np.array([each.accuracy for each in self.judged]),
                "chosen": np.array([each.candidate == self.chosen for each in self.judged]),
            }
        }

    @property
    def findings(self) -> tuple[Finding, ...]:
        """By how much personal rankings help, and which ranking is served."""
        return (self._finding(),)

    def _finding(self) -> Finding:
        gain = self.gain
        if gain is None:
            why = "there are too few comparisons to judge personal ones by"
            if self.judged:
                why = "there is one user" if len(self.judged[0].loss) == 1 else "no personal ones were tried"
            text = f"one ranking for all users is served: {why}"
            return Finding("note", text, identifier="collaborative.personal-rankings-not-judged")
        how = (
            f"log-loss of held-out comparisons {number(gain.personal)} with personal rankings, "
            f"{number(gain.shared)} with one for all: a gain of {number(round(gain.gain, 3))}"
        )
        if np.isfinite(gain.low):
            low, high = number(round(gain.low, 3)), number(round(gain.high, 3))
            how += f" ({percent(_LEVEL)} interval {low} to {high})"
        how += f"; accuracy {percent(gain.personal_accuracy, 3)} and {percent(gain.shared_accuracy, 3)}"
        if self.chosen.model == "personal":
            served = "personal rankings are served"
            identifier = "collaborative.personal-rankings-served"
        else:
            served = "one ranking for all users is served"
            if self.chosen.model == "crowd-bt":
                served += ", with how reliable each user is (ranking.crowd-bt)"
            identifier = "collaborative.one-ranking-served"
        return Finding("note", f"{served}: {how}", identifier=identifier)


def select(judged: Sequence[Judged], rule: Rule) -> tuple[Candidate, Gain | None]:
    """The candidate to serve, and how much personal rankings gain.

    More than the population is served only where it surely predicts better: a personal one where the interval
    of `Gain` is above zero, CrowdBT where that of its own difference is. Where everybody has one taste, the
    best of a dozen personal ones has the smaller loss in one draw of six.

    Parameters
    ----------
    judged
        The candidates that were tried, at least one of them not personal.
    rule
        "best": the least mean loss. "one-standard-error": of personal ones the smallest rank, and with it the
        largest ridge, whose loss is within a standard error (of the difference) of the best one's.
    """
    kinds: dict[Model, list[Judged]] = {"population": [], "crowd-bt": [], "personal": []}
    for each in judged:
        kinds[each.candidate.model].append(each)
    best = min(kinds["population"], key=lambda each: each.mean)
    for crowd in kinds["crowd-bt"]:
        if _interval(best.loss - crowd.loss, crowd.weight)[1] > 0:
            best = crowd
    if not kinds["personal"]:
        return best.candidate, None
    gain = gained(best, kinds["personal"])
    if gain.low > 0:
        best = min(kinds["personal"], key=lambda each: each.mean)
        if rule == "one-standard-error":
            near = [
                each
                for each in kinds["personal"]
                if each.mean <= best.mean + _error_of_difference(each, best)
            ]
            best = min(near, key=lambda each: (each.candidate.rank, -each.candidate.ridge))
    return best.candidate, gain


def gained(shared: Judged, personal: Sequence[Judged]) -> Gain:
    """How much the best of the personal ones gains over one ranking for all."""
    sums = np.array([each.loss.sum(axis=0) for each in personal])  # candidates x folds
    elsewhere = np.argmin(sums.sum(axis=1, keepdims=True) - sums, axis=0)
    loss = np.column_stack([personal[one].loss[:, fold] for fold, one in enumerate(elsewhere)])
    right = sum(personal[one].right[:, fold].sum() for fold, one in enumerate(elsewhere))
    total = float(shared.weight.sum())
    return Gain(
        shared.mean,
        float(loss.sum() / total),
        shared.accuracy,
        float(right / total),
        *_interval(shared.loss - loss, shared.weight),
    )


def _interval(total: Array, weight: Array) -> tuple[float, float, float]:
    """Mean, and the ends of its interval, of sums over each user's comparisons in each fold."""
    weight = weight.sum(axis=1)
    mean, error = spread_over_users(total.sum(axis=1), weight)
    half = _quantile(int((weight > 0).sum())) * error
    return mean, mean - half, mean + half


def spread_over_users(total: Array, weight: Array) -> tuple[float, float]:
    """Mean of a quantity over all comparisons, and its standard error, users being independent.

    Parameters
    ----------
    total, weight
        Sums over each user's comparisons, shape (users,).

    Notes
    -----
    The error of a ratio of sums over users (a cluster sample; Cochran 1977, Sec. 9A.2).
    """
    mean, users = float(total.sum() / weight.sum()), int((weight > 0).sum())
    if users < 2:
        return mean, float("nan")
    rest = total - mean * weight
    return mean, float(np.sqrt(users / (users - 1) * (rest @ rest)) / weight.sum())


def _error_of_difference(one: Judged, other: Judged) -> float:
    return spread_over_users((one.loss - other.loss).sum(axis=1), one.weight.sum(axis=1))[1]


def _quantile(users: int) -> float:
    return float(stdtrit(users - 1, (1 + _LEVEL) / 2)) if users > 1 else float("nan")
