"""Classes with subtypes, on which workers err together: EBCC of Li, Rubinstein and Cohn."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from pydantic import Field, PositiveInt
from scipy.special import digamma, gammaln, logsumexp

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import confusion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.sizes import too_large_for_confusion
from optiframe_rankone.vote import first_vote

_RIGHT, _WRONG = (
    4.0,
    1.0,
)  # labels of each kind that a worker is taken to have given besides (the paper's beta)
_SHARE = (
    0.1  # of all subtypes of a class together (a_pi of the published code): few are used where few will do
)
_CLASS = 1.0  # tasks that each class is taken to have besides (its alpha)
_AT_REST = 1e-3  # change of a posterior at which a start ends, as in the published code


class EnhancedBayes(Solver[LabelAggregation, Aggregation, None]):
    """Variational Bayes for confusion matrices of subtypes: EBCC, which allows for errors made together.

    Needs several labels a task. Tasks of a class fall into subtypes, such as easy and misleading ones, and a
    worker has a confusion row for each. Given class and subtype workers err independently; given the class
    alone they err together on its hard subtypes, which `labels.dawid-skene` takes for evidence. Dirichlet
    priors keep rows of few labels near the diagonal, and leave subtypes empty that are not needed.

    From vote shares, with gold a vote weighted by it, dealt to the subtypes at random, coordinate ascent
    raises a lower bound of the likelihood (`bound` in the trace). Answers depend on the seed: of several
    `starts` the one with the highest bound counts. Each ends where no posterior changes by 0.001, or after
    `steps` steps; iterations are the steps of all starts, and only the last has a residual. Confusion
    matrices are means over the subtypes.

    One iteration is two products with the labels of 2 M S operations each, M classes and S subtypes; memory
    is 12 bytes a label, 16 M S bytes a task and 24 M^2 S bytes a worker.
    """

    name = "labels.ebcc"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    monotone = True  # the last iterate has the highest bound, whatever the least-squares objective says
    residual_meaning = (
        "largest change of a task's posterior probability in the last step of the start that counts"
    )
    reference = "Li, Rubinstein, Cohn 2019, Exploiting Worker Correlation for Label Aggregation"

    subtypes: PositiveInt = Field(default=10, description="subtypes of each class")
    starts: PositiveInt = Field(
        default=5, description="random starts, of which the one with the highest bound counts"
    )
    steps: PositiveInt = Field(default=500, description="steps of a start at most")

    def unsuited(self, problem: LabelAggregation) -> str | None:
        return too_large_for_confusion(len(problem.labels.worker_ids) * self.subtypes, len(problem.classes))

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        given, first = confusion.one_hot(problem), first_vote(problem.crowd).probabilities
        truth = problem.gold_codes
        wrong = (truth[:, None] >= 0) & (truth[:, None] != np.arange(len(problem.classes)))
        masked = np.where(wrong, -np.inf, 0.0)[:, :, None]
        best: tuple[float, Aggregation, float] | None = None
        for start in range(1, self.starts + 1):
            # Shares for each task and class, whatever labels there are.
            shares = run.rng.dirichlet(np.ones(self.subtypes), first.shape)
            posterior = first[:, :, None] * np.exp(masked) * shares
            for step in range(1, self.steps + 1):
                model = _Model.of(given, posterior)
                scores = model.scores(given)
                before, total = posterior.sum(axis=2), logsumexp(scores + masked, axis=(1, 2))
                posterior = np.exp(scores + masked - total[:, None, None])
                bound = float(total.sum()) - model.divergence()
                change = float(np.abs(posterior.sum(axis=2) - before).max())
                answer, ends = model.answer(problem, scores), change <= _AT_REST or step == self.steps
                if ends and (best is None or bound > best[0]):
                    best = bound, answer, change
                so_far = (bound, answer, change) if best is None else best
                over = ends and start == self.starts
                residual = so_far[2] if over else np.nan
                yield Iterate(so_far[1], residual=residual, info={"bound": so_far[0]})
                if ends:
                    break
        return Status.FINISHED, f"the best of {self.starts} start{'' if self.starts == 1 else 's'}"


class _Model(NamedTuple):
    """Parameters of Dirichlet posteriors.

    `classes` has shape (classes,), `subtypes` (classes, subtypes) and `labels` (workers, labels, classes,
    subtypes).
    """

    classes: Array
    subtypes: Array
    labels: Array

    @classmethod
    def of(cls, given: sp.csr_array, posterior: Array) -> _Model:
        """Those that fit the posterior of the classes and subtypes, shape (tasks, classes, subtypes)."""
        tasks, classes, subtypes = posterior.shape
        counts = (given.T @ posterior.reshape(tasks, -1)).reshape(-1, classes, classes, subtypes)
        used = posterior.sum(axis=0)
        return cls(_CLASS + used.sum(axis=1), _SHARE / subtypes + used, counts + _besides(classes))

    def scores(self, given: sp.csr_array) -> Array:
        """Expected log of the joint probability of labels, class and subtype, (tasks, classes, subtypes)."""
        shape = self.subtypes.shape
        found = given @ _log(self.labels, axis=1).reshape(-1, shape[0] * shape[1])
        prior = _log(self.classes, axis=0)[:, None] + _log(self.subtypes, axis=1)
        return np.asarray(found).reshape(-1, *shape) + prior

    def divergence(self) -> float:
        """Kullback-Leibler divergence from the prior."""
        classes, subtypes = self.subtypes.shape
        return (
            _divergence(self.classes, np.full(classes, _CLASS), axis=0)
            + _divergence(self.subtypes, np.full_like(self.subtypes, _SHARE / subtypes), axis=1)
            + _divergence(self.labels, np.broadcast_to(_besides(classes), self.labels.shape), axis=1)
        )

    def answer(self, problem: LabelAggregation, scores: Array) -> Aggregation:
        """What the scores and mean parameters say."""
        share = self.subtypes / self.subtypes.sum(axis=1, keepdims=True)
        rows = np.einsum("jlks,ks->jlk", self.labels / self.labels.sum(axis=1, keepdims=True), share)
        mean = confusion.Model(self.classes / self.classes.sum(), rows)
        found = problem.from_scores(logsumexp(scores, axis=2), "log-odds", mean.skills())
        return replace(found, confusion=rows.transpose(0, 2, 1), prior=mean.prior)


def _besides(classes: int) -> Array:
    """Labels of each kind on each class that a worker has given besides, (labels, classes, 1)."""
    return np.where(np.eye(classes) > 0, _RIGHT, _WRONG)[:, :, None]


def _log(parameters: Array, axis: int) -> Array:
    """Expected logs of probabilities from Dirichlet distributions."""
    return np.asarray(digamma(parameters) - digamma(parameters.sum(axis=axis, keepdims=True)))


def _divergence(parameters: Array, prior: Array, axis: int) -> float:
    """Kullback-Leibler divergence of Dirichlet distributions from others, summed."""
    apart = (parameters - prior) * _log(parameters, axis) - gammaln(parameters) + gammaln(prior)
    totals = gammaln(parameters.sum(axis=axis)) - gammaln(prior.sum(axis=axis))
    return float(apart.sum() + totals.sum())
