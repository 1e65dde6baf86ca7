"""Max-margin majority voting."""

from __future__ import annotations

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import confusion
from optiframe_rankone.baselines.max_margin import Machine
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.vote import first_vote

_PRICES = tuple(2.0**power for power in range(-8, 1))
"""From where every margin is violated and weights count agreement, to where the majority keeps its own."""
_FLOOR = 1e-6  # least probability in the confusion matrices that choose c, as in `labels.dawid-skene`
_MOST_WORKERS = 10_000  # the Hessian has workers^2 entries of 8 bytes: 800 MB


class MaxMarginMajority(Solver[LabelAggregation, Aggregation, None]):
    """Max-margin majority voting, M3V (Tian and Zhu): the vote whose winners win by most.

    Minimizes over weights of workers and labels y of tasks together

        |weights|^2 / 2 + c * sum over tasks of max over d != y of (1 - score(y) + score(d))_+

    by turns, from the majority vote (with gold from a vote weighted by it; the label of a task with gold is
    known and teaches weights): a support vector machine for the weights (solved to a
    relative duality gap of 1e-4), then for each task the label of least loss, which is the one with
    the highest score. A tied task counts as the mean over its tied labels; that bounds its
    loss from above, so the objective falls until no label changes.

    The objective does not say what c is, and the answer depends on it: for a large c the weights
    of the majority vote already keep every margin, and nothing changes. With no `c` given,
    each of 2^-8, 2^-7, ..., 1 is run from the majority vote, and the answer is the one under whose
    labels confusion matrices of the workers (one M step of `labels.dawid-skene`) make the
    crowd's labels likeliest. No known truth is looked at.

    A Newton step of the machine costs workers^3/3 and the pairs of labels on shared tasks, memory
    is 16 workers^2 bytes and 40 bytes a label. Weights are no accuracies: the answer has no
    skills. Scores are -2 c times the loss, the log pseudo-posterior of the Bayesian form.

    Notes
    -----
    This is the deterministic M3V. The same paper's Bayesian form (CrowdSVM, and its Gibbs
    sampler) joins it with a Dawid-Skene likelihood and is not built. Its margin parameter is 1
    here: another margin m with c is the same as margin 1 with c/m.
    """

    name = "labels.m3v"
    solves = LabelAggregation
    residual_meaning = "share of tasks whose winners changed in the last turn; nan while c is being chosen"
    reference = "Tian and Zhu 2015, Max-margin majority voting"

    c: PositiveFloat | None = Field(
        default=None, description="price of a violated margin; none: chosen by the likelihood of the labels"
    )

    def unsuited(self, problem: LabelAggregation) -> str | None:
        workers = len(problem.labels.worker_ids)
        if workers > _MOST_WORKERS:
            return f"a matrix of {workers} x {workers} is too large; at most {_MOST_WORKERS} workers"
        return None

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        if self.c is not None:
            return (yield from _alternate(problem, self.c))
        given = confusion.one_hot(problem)
        best, highest = None, -np.inf
        for c in _PRICES:
            for iterate in _alternate(problem, c):
                answer = iterate.x
                iterate.residual = np.nan
                yield iterate
            model = confusion.m_step(given, _credit(answer), _FLOOR, estimate_prior=True)
            likelihood = confusion.log_likelihood(confusion.e_step(given, model))
            if likelihood > highest:
                best, highest, chosen = answer, likelihood, c
        yield Iterate(best, residual=0.0, info={"c": chosen, "log_likelihood": highest})
        return None


def _alternate(problem: LabelAggregation, c: float) -> Iterates:
    """Alternate weights and labels until no label changes."""
    machine = Machine(problem, c)
    weights = np.zeros(len(problem.labels.worker_ids))
    answer = first_vote(problem.crowd)
    before, settled = np.inf, False
    while not settled:
        fit = machine.fit(_credit(answer), weights)
        weights, last = fit.weights, answer
        answer = problem.from_scores(-2.0 * c * machine.losses(weights), "log-odds")
        changed = float((answer.winners != last.winners).any(axis=1).mean())
        yield Iterate(answer, residual=changed, info={"c": c, "margin_objective": fit.objective})
        # Where the objective falls by less than it is known to, labels may go round in a cycle.
        settled = changed == 0 or before - fit.objective <= fit.gap
        before = fit.objective
    if changed > 0:
        return Status.FINISHED, "labels still change, but the objective falls by no more than its duality gap"
    return None


def _credit(answer: Aggregation) -> Array:
    """1 for the label of a task, shared among tied ones, shape (tasks, classes)."""
    return np.asarray(answer.winners / answer.winners.sum(axis=1, keepdims=True))
