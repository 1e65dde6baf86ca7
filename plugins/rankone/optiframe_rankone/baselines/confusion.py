"""The confusion-matrix model of Dawid and Skene: what its EM steps are made of.

Task t has class k with chance prior[k]; worker j then says l with chance confusion[j, l, k].
Labels are a sparse matrix with a row for each task and a column for each worker and label,
so that both steps are one product with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, NamedTuple

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates
from optiframe_rankone.answer import over_classes
from optiframe_rankone.problem import LabelAggregation

STEPS = 100
"""EM is about as good as after 10,000 steps (examples/bench/labels_shipped_sets.py), and much faster."""
Steps = Annotated[
    int, Field(ge=1, description="EM steps; after these the run is finished, whatever the residual")
]


class Model(NamedTuple):
    """Parameters: `prior`, shape (classes,), and `confusion`, shape (workers, labels, classes)."""

    prior: Array
    confusion: Array

    def skills(self) -> Array:
        """(M p - 1)/(M - 1) for the chance p of being right, over the classes as they occur."""
        classes = len(self.prior)
        right = np.einsum("jkk,k->j", self.confusion, self.prior)
        return np.asarray((classes * right - 1.0) / (classes - 1))


def one_hot(problem: LabelAggregation) -> sp.csr_array:
    """How many times a label counts where a worker gave it, (tasks, workers * classes); 12 bytes a label."""
    labels, classes = problem.labels, len(problem.classes)
    column = labels.worker.astype(np.int64) * classes + problem.label_codes
    start = np.searchsorted(labels.task, np.arange(len(labels.task_ids) + 1))
    shape = len(labels.task_ids), len(labels.worker_ids) * classes
    return sp.csr_array((labels.weighted(np.ones(len(column))), column, start), shape=shape)


def with_floor(counts: Array, floor: float, axis: int) -> Array:
    """The probabilities, none below the floor, under which the counts are likeliest.

    In proportion to the counts where that is above the floor; entries below are raised to it
    and the others share what is left. Nothing counted gives equal probabilities. `floor`
    times the number of entries is below 1.
    """
    entries = counts.shape[axis]
    nothing = counts.sum(axis=axis, keepdims=True) <= 0
    counts = np.where(nothing, 1.0, counts)
    low = np.zeros(counts.shape, dtype=bool)
    for _ in range(entries):  # each round raises at least one more entry, or is the last
        left = 1.0 - floor * low.sum(axis=axis, keepdims=True)
        rest = np.where(low, 0.0, counts)
        shares = np.where(low, floor, rest * (left / rest.sum(axis=axis, keepdims=True)))
        if not (shares < floor).any():
            break
        low |= shares < floor
    return shares


def m_step(given: sp.csr_array, posterior: Array, floor: float, *, estimate_prior: bool) -> Model:
    """The model under which labels and posteriors are likeliest, every probability at least `floor`."""
    classes = posterior.shape[1]
    floor = min(floor, 0.5 / classes)
    counts = (given.T @ posterior).reshape(-1, classes, classes)
    prior = with_floor(posterior.sum(axis=0), floor, axis=0) if estimate_prior else _equal(classes)
    return Model(prior, with_floor(counts, floor, axis=1))


def e_step(given: sp.csr_array, model: Model) -> Array:
    """log of the joint probability of a task's labels and each class, shape (tasks, classes)."""
    classes = len(model.prior)
    return np.asarray(given @ np.log(model.confusion).reshape(-1, classes) + np.log(model.prior))


def log_likelihood(joint: Array) -> float:
    """Log-likelihood of all labels from what `e_step` gives."""
    top = over_classes(np.maximum, joint)
    return float((top + np.log(over_classes(np.add, np.exp(joint - top[:, None])))).sum())


def em(
    problem: LabelAggregation,
    given: sp.csr_array,
    model: Model,
    floor: float,
    *,
    estimate_prior: bool,
    steps: int,
    gain: float = 0.0,
) -> Iterates:
    """E and M steps, from a model; each iterate is the answer of an E step.

    The residual is the largest change of a task's posterior probability; `log_likelihood`
    is that of the model the answer belongs to, and never falls. Steps end where it rises by less than
    `gain` a label.
    """
    before = np.full((given.shape[0], len(model.prior)), np.nan)
    likelihood, least = -np.inf, gain * given.sum()
    for step in range(steps):
        if step:
            model = m_step(given, before, floor, estimate_prior=estimate_prior)
        answer = replace(
            problem.from_scores(e_step(given, model), "log-odds", model.skills()),
            confusion=model.confusion.transpose(0, 2, 1),
            prior=model.prior,
        )
        posterior, last = answer.probabilities, likelihood
        likelihood = log_likelihood(answer.scores)
        yield Iterate(
            answer,
            residual=float(np.abs(posterior - before).max()),
            info={"log_likelihood": likelihood},
        )
        if likelihood - last < least:
            rose = f"the last step raised the log-likelihood by less than {gain:g} a label"
            return Status.FINISHED, f"{rose} (the parameter `gain`)"
        before = posterior
    return all_taken(steps)


def all_taken(steps: int) -> tuple[Status, str]:
    """The verdict on EM that took its steps."""
    return Status.FINISHED, f"took its {steps} EM step{'' if steps == 1 else 's'} (the parameter `steps`)"


def _equal(classes: int) -> Array:
    return np.full(classes, 1.0 / classes)
