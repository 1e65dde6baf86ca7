"""The expected accuracy of an assignment: exactly, by sampling, and smoothed so that it has a gradient.

The model of Sec. 5.2: task j has the true label y_j, 1 with the prior chance; worker i answers
it rightly with chance Q_ij, whichever label it has, independently of the others; and the label is
predicted by Bayes' rule. With c_ij = 1 for a right and -1 for a wrong answer, L = log(Q/(1 - Q)),
r_j the log-odds of label 0 and T_j = sum_i X_ij c_ij L_ij, label 1 is predicted rightly where T >= r
and label 0 where T > -r.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, model_validator
from scipy.sparse import csr_array
from scipy.special import expit

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Accepts, AnyArray, Array, Vector

_QUANTILE = 1.959964  # of the normal distribution, for two-sided 95% intervals
_ROUNDING = 1e-14  # of a difference of two chances, each the sum of thousands
_MOST_BEND = 0.0962251  # largest |S''| of the logistic function, 1 / (6 sqrt(3)), rounded up


@dataclass(frozen=True)
class Estimate:
    """An expected accuracy with its 95% interval; an `exact` one was enumerated, its interval is a point."""

    value: float
    low: float
    high: float
    exact: bool


@dataclass(frozen=True)
class Answers:
    """The answers a task may get from its workers, weighted.

    `one` and `zero` hold, for each pattern of answers, its chance together with label 1 and
    with label 0; shape (patterns,). All of them sum to 1. Bayes' rule is right with chance
    ``sum max(one, zero)``.
    """

    one: Array
    zero: Array
    spread: float  # variance of the estimated accuracy; 0.0 for enumerated patterns

    @property
    def accuracy(self) -> float:
        """Chance that the predicted label is right."""
        return float(np.maximum(self.one, self.zero).sum())

    def with_one_more(self, quality: Array) -> Array:
        """Accuracies with one further worker, for each of these qualities."""
        q = np.asarray(quality)[:, np.newaxis]
        says_one = np.maximum(self.one * q, self.zero * (1 - q)).sum(axis=1)
        says_zero = np.maximum(self.one * (1 - q), self.zero * q).sum(axis=1)
        return np.asarray(says_one + says_zero)


def enumerated(quality: Array, prior: float) -> Answers:
    """Every pattern of answers of workers with these qualities; 2^workers of them."""
    one, zero = np.array([prior]), np.array([1.0 - prior])
    for q in quality.tolist():
        one = np.concatenate([one * q, one * (1 - q)])
        zero = np.concatenate([zero * (1 - q), zero * q])
    return Answers(one, zero, 0.0)


def sampled(quality: Array, prior: float, right: NDArray[np.bool_]) -> Answers:
    """Patterns drawn: `right[d, i]` says whether worker i is right in draw d.

    Each draw stands for two patterns, one for either label. Given its answers, the accuracy is the
    larger of the two posterior chances: that number, not whether the prediction happened to be
    right, is averaged, which has the same mean and a smaller variance.
    """
    log_odds = np.log(quality) - np.log1p(-quality)
    votes = np.where(right, log_odds, -log_odds).sum(axis=1)
    against = np.log1p(-prior) - np.log(prior)
    scores = np.concatenate([votes - against, -votes - against])  # log-odds of label 1, by true label
    draws = len(right)
    weight = np.repeat([prior / draws, (1 - prior) / draws], draws)
    best = prior * expit(np.abs(scores[:draws])) + (1 - prior) * expit(np.abs(scores[draws:]))
    spread = float(best.var(ddof=1)) / draws if draws > 1 else float("inf")
    return Answers(weight * expit(scores), weight * expit(-scores), spread)


@dataclass(frozen=True, eq=False)
class Judge:
    """Expected accuracies of assignments, all by one sample of answers, so that they can be compared.

    A task with k workers is enumerated where that is less work than sampling (2^k at most
    `samples`). Otherwise `samples` draws are made: those of a pair are the same in every
    assignment, fixed by `seed`, `stream` and the pair's codes. Time O(pairs * samples), memory
    O(workers of a task * samples).
    """

    quality: Array
    prior: Array
    samples: int
    seed: int
    stream: int

    def answers(self, task: int, workers: NDArray[np.intp]) -> Answers:
        """What `task` may get from these workers."""
        quality, prior = self.quality[workers, task], float(self.prior[task])
        if len(workers) < self.samples.bit_length():  # 2^k patterns are at most `samples`
            return enumerated(quality, prior)
        draws = [np.random.default_rng([self.seed, self.stream, int(i), task]) for i in workers]
        chances = [rng.random(self.samples) for rng in draws]
        return sampled(quality, prior, np.stack(chances, axis=1) < quality)

    def by_task(self, chosen: NDArray[np.bool_]) -> Iterator[Answers]:
        """`answers` of each task in turn."""
        for task in range(chosen.shape[1]):
            yield self.answers(task, np.flatnonzero(chosen[:, task]))

    def accuracies(self, chosen: NDArray[np.bool_]) -> Array:
        """Expected accuracy of each task; shape (tasks,)."""
        return np.array([answers.accuracy for answers in self.by_task(chosen)])

    def estimate(self, chosen: NDArray[np.bool_]) -> Estimate:
        """Mean of the expected accuracies over tasks (Eq. 8)."""
        found = list(self.by_task(chosen))
        value = float(np.mean([answers.accuracy for answers in found]))
        spread = sum(answers.spread for answers in found)
        half = _QUANTILE * float(np.sqrt(spread)) / len(found)
        # The interval of a chance ends at 1; rounding must not carry the sum of the patterns past it.
        return Estimate(min(value, 1.0), max(value - half, 0.0), min(value + half, 1.0), spread == 0.0)

    def marginals(self, chosen: NDArray[np.bool_]) -> Array:
        """What each pair adds to the mean accuracy: an unchosen one if added, a chosen one if kept."""
        worths = np.zeros(self.quality.shape)
        for task in range(chosen.shape[1]):
            workers = np.flatnonzero(chosen[:, task])
            answers = self.answers(task, workers)
            others = np.flatnonzero(~chosen[:, task])
            worths[others, task] = answers.with_one_more(self.quality[others, task]) - answers.accuracy
            for worker in workers:
                without = self.answers(task, workers[workers != worker])
                worths[worker, task] = answers.accuracy - without.accuracy
        # An answer never does harm, but for rounding and sampling.
        return np.asarray(np.where(worths > _ROUNDING, worths, 0.0) / chosen.shape[1])


def _as_signs(value: Any) -> NDArray[np.int8]:
    try:
        signs = np.asarray(value)
    except ValueError:
        raise InvalidInput("rows differ in length") from None
    if signs.ndim != 3 or not signs.size or not ((signs == 1) | (signs == -1)).all():
        raise InvalidInput("must be an array of -1 and 1, of shape (draws, workers, tasks), and not empty")
    signs = signs.astype(np.int8)
    signs.flags.writeable = False
    return signs


class AssignmentLoss(FiniteSum):
    """One minus the smoothed expected accuracy, over drawn answers: a finite sum over draws.

    The indicator of a right prediction becomes the logistic function S (supplement, Sec. 4)::

        1 - mean over draws and tasks of [ P(y=1) S(T - r) + P(y=0) S(T + r) ]

    with T as in this module's first lines. In the paper's terms, Z is ``c L`` given y = 1 and
    ``-c L`` given y = 0, so that ``S(r - <Z, X>) = S(T + r)``; its derivative by X has a minus, ``-S
    (1 - S) Z``, which the printed gradient lacks. One draw of c serves both labels: whether
    an answer is right does not depend on the label.

    Not convex. A gradient costs O(draws * workers * tasks); memory a byte for each of these.
    """

    name = "assignment-loss"
    reference = "Yang et al., supplement, Sec. 4"

    log_odds: AnyArray = Field(description="log(Q / (1 - Q)), workers x tasks")
    prior: Vector = Field(description="chance of label 1 of each task")
    signs: Annotated[
        NDArray[np.int8], PlainValidator(_as_signs), Accepts("-1 and 1, draws x workers x tasks")
    ] = Field(description="whether each worker is right on each task, in each draw")

    @model_validator(mode="after")
    def _shapes_agree(self) -> Self:
        if self.log_odds.shape != self.signs.shape[1:] or self.prior.shape != self.signs.shape[2:]:
            raise InvalidInput(
                f"log_odds has shape {self.log_odds.shape}, prior {self.prior.shape} and signs "
                f"{self.signs.shape}; they must be (workers, tasks), (tasks,) and (draws, workers, tasks)"
            )
        if not ((self.prior > 0) & (self.prior < 1)).all():
            raise InvalidInput("prior: every chance must be above 0 and below 1")
        return self

    @classmethod
    def drawn(cls, quality: Array, prior: Array, draws: int, rng: np.random.Generator) -> Self:
        """The loss over `draws` new draws."""
        signs = np.empty((draws, *quality.shape), dtype=np.int8)
        for draw in signs:  # one at a time: random numbers take eight times the memory of signs
            draw[:] = 2 * (rng.random(quality.shape) < quality).view(np.int8) - 1
        return cls(log_odds=np.log(quality) - np.log1p(-quality), prior=prior, signs=signs)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.log_odds.shape

    def __len__(self) -> int:
        return len(self.signs)

    def take(self, indices: Any) -> AssignmentLoss:
        return type(self)(log_odds=self.log_odds, prior=self.prior, signs=self.signs[indices])

    def value(self, x: Array) -> float:
        votes, against = self._votes(x)
        right = self.prior * expit(votes - against) + (1 - self.prior) * expit(votes + against)
        return float(1.0 - right.mean())

    def gradient(self, x: Array) -> Array:
        votes, against = self._votes(x)
        slopes = self.prior * _slope(votes - against) + (1 - self.prior) * _slope(votes + against)
        return np.asarray(np.einsum("dj,dij->ij", slopes, self.signs) * self.log_odds / -slopes.size)

    def curvature(self) -> float:
        """The most of |S''| |L|^2 over the tasks: a task's Hessian is a mean of S'' (c L)(c L)'."""
        lengths = (self.log_odds**2).sum(axis=0)
        return float(_MOST_BEND * lengths.max() / self.log_odds.shape[1])

    def _votes(self, x: Array) -> tuple[Array, Array]:
        """T of each draw and task, shape (draws, tasks), and r of each task."""
        votes = np.einsum("dij,ij->dj", self.signs, self.log_odds * x)
        return votes, np.log1p(-self.prior) - np.log(self.prior)


def drawn_gradient(log_odds: Array, prior: Array, x: Array, draws: int, rng: np.random.Generator) -> Array:
    """The gradient of `AssignmentLoss` at x, from new draws of the answers that count there.

    Where x is 0 an answer has no part in the votes, so its mean 2Q - 1 is taken and nothing is drawn. The
    expected gradient is the same, and its errors do not grow with the number of workers, of whom the
    luckiest would be assigned. Costs O(draws * pairs with x > 0 + workers * tasks).

    Parameters
    ----------
    log_odds
        log(Q / (1 - Q)), workers x tasks.
    prior
        Chance of label 1 of each task.
    x
        Where; workers x tasks.
    """
    worker, task = np.nonzero(x)
    odds = log_odds[worker, task]
    signs = np.where(rng.random((len(odds), draws)) < expit(odds)[:, np.newaxis], 1.0, -1.0)
    of_task = csr_array((odds * x[worker, task], (task, np.arange(len(task)))), (len(prior), len(task)))
    votes, against = of_task @ signs, (np.log1p(-prior) - np.log(prior))[:, np.newaxis]
    one = prior[:, np.newaxis]
    slopes = one * _slope(votes - against) + (1 - one) * _slope(votes + against)
    means = np.tanh(log_odds / 2) * slopes.mean(axis=1)  # tanh(L / 2) is 2Q - 1
    means[worker, task] = (slopes[task] * signs).mean(axis=1)
    return np.asarray(means * log_odds / -len(prior))


def _slope(t: Array) -> Array:
    return np.asarray(expit(t) * expit(-t))
