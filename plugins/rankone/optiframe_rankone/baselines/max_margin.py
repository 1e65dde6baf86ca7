"""The support vector machine inside max-margin majority voting: weights of workers for given labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.problem import LabelAggregation

_GAP = 1e-4  # duality gap to reach, over the objective: far below what moves a label's margin of 1
_COOLER = 0.25  # factor of the temperature from one round to the next; Newton then needs a few steps
_STEPS = 50  # Newton steps at one temperature at most; from the last temperature's answer it takes under 10
_DECREASE = 1e-4  # share of the decrease the gradient promises that a step must bring (Armijo)
_HALVINGS = 40  # of a Newton step: below 1e-12 of it nothing moves


class Fit(NamedTuple):
    """Weights of the workers, shape (workers,), their objective, and how far it may be from the least."""

    weights: Array
    objective: float
    gap: float


class Machine:
    """One task's margin constraints for each task, as sparse matrices built once.

    Parameters
    ----------
    problem
        The labels. Class d of task t has the score s_td = sum of the weights of the workers
        who said d.
    c
        Price of a violated margin against the squared weights.
    """

    def __init__(self, problem: LabelAggregation, c: float) -> None:
        labels = problem.labels
        self.problem, self.c = problem, c
        self.tasks, self.classes = len(labels.task_ids), len(problem.classes)
        cell = labels.task.astype(np.int64) * self.classes + problem.label_codes
        self.said = sp.csr_array(
            (np.ones(len(labels)), (cell, labels.worker)),
            shape=(self.tasks * self.classes, len(labels.worker_ids)),
        )

    def scores(self, weights: Array) -> Array:
        """Weighted votes, shape (tasks, classes)."""
        return self.problem.crowd.votes(weights)

    def losses(self, weights: Array) -> Array:
        """Hinge loss of each class if it were the label: max over d of (1 + s_d - s)_+, d another class."""
        scores = self.scores(weights)
        two = np.sort(scores, axis=1)[:, -2:]
        rival = np.where(scores == two[:, 1:], two[:, :1], two[:, 1:])
        return np.maximum(1.0 + rival - scores, 0.0)

    def fit(self, credit: Array, start: Array) -> Fit:
        """Least |weights|^2/2 + c * sum of credit[t, k] * hinge loss of task t if its label is k.

        The hinge is a maximum over classes. Newton steps on the soft maximum of a falling
        temperature end when the duality gap, which the soft maximum's probabilities give a
        dual point for, is at most 1e-4 of the objective. A step costs the pairs of labels on
        shared tasks and (workers)^3/3.
        """
        rows = _Rows.of(credit, self.c)
        weights, heat = start, 1.0
        while True:
            for _ in range(_STEPS):
                value, gradient, hessian = self._model(weights, rows, heat)
                step = -scipy.linalg.solve(hessian, gradient, assume_a="pos")
                promised = float(gradient @ step)
                # The gradient is what the weights and the dual point differ by; half its square
                # is their part of the gap.
                if max(-promised, float(gradient @ gradient)) <= _GAP * value / 2:
                    break
                weights = _search(partial(self._value, rows, heat), weights, step, promised)
            fit = self._certified(weights, rows, heat)
            # Without a label that contradicts another the objective can be as small as it likes.
            if fit.gap <= _GAP * max(fit.objective, np.finfo(np.float64).tiny) or heat < _GAP**2:
                return fit
            heat *= _COOLER

    def _excess(self, weights: Array, rows: _Rows) -> Array:
        """1 + s_d - s_k for each row (task, class k) and class d, 0 for d = k; shape (rows, classes)."""
        scores = self.scores(weights)[rows.task]
        return rows.margin + scores - scores[np.arange(len(scores)), rows.label][:, None]

    def _soft(self, weights: Array, rows: _Rows, heat: float) -> tuple[float, Array]:
        """The softened objective, and the probabilities of the soft maximum, shape (rows, classes)."""
        excess = self._excess(weights, rows)
        top = excess.max(axis=1, keepdims=True)
        powers = np.exp((excess - top) / heat)
        total = powers.sum(axis=1, keepdims=True)
        soft = top[:, 0] + heat * np.log(total[:, 0])
        return float(weights @ weights / 2 + rows.price @ soft), powers / total

    def _value(self, rows: _Rows, heat: float, weights: Array) -> float:
        return self._soft(weights, rows, heat)[0]

    def _pull(self, share: Array, rows: _Rows) -> Array:
        """Gradient of the losses for shares of the rows on the classes, shape (workers,)."""
        flow = rows.price[:, None] * share
        flow[np.arange(len(flow)), rows.label] -= rows.price
        cells = np.zeros((self.tasks, self.classes))
        np.add.at(cells, rows.task, flow)
        return np.asarray(self.said.T @ cells.ravel())

    def _model(self, weights: Array, rows: _Rows, heat: float) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian of the softened objective."""
        value, share = self._soft(weights, rows, heat)
        cells = np.zeros((self.tasks, self.classes))
        np.add.at(cells, rows.task, rows.price[:, None] * share)
        spread = self.said.T @ sp.diags_array(cells.ravel()) @ self.said
        column = (rows.task[:, None] * self.classes + np.arange(self.classes)).ravel()
        first = np.arange(len(rows.task) + 1) * self.classes
        shape = len(rows.task), self.tasks * self.classes
        mean = sp.csr_array((share.ravel(), column, first), shape=shape) @ self.said
        spread = spread - mean.T @ sp.diags_array(rows.price) @ mean
        return value, weights + self._pull(share, rows), spread.toarray() / heat + np.eye(len(weights))

    def _certified(self, weights: Array, rows: _Rows, heat: float) -> Fit:
        objective = float(weights @ weights / 2 + rows.price @ self._excess(weights, rows).max(axis=1))
        share = self._soft(weights, rows, heat)[1]
        pull = self._pull(share, rows)
        dual = float(rows.price @ (share * rows.margin).sum(axis=1) - pull @ pull / 2)
        return Fit(weights, objective, objective - dual)


def _search(value: Callable[[Array], float], weights: Array, step: Array, promised: float) -> Array:
    """The first of weights + step, weights + step/2, ... that decreases enough; `weights` if none."""
    least, length = value(weights), 1.0
    for _ in range(_HALVINGS):
        if value(weights + length * step) <= least + _DECREASE * length * promised:
            return weights + length * step
        length /= 2
    return weights


class _Rows(NamedTuple):
    """A row for each task and each class it may have."""

    task: NDArray[np.intp]
    label: NDArray[np.intp]
    price: Array  # c times the credit, shape (rows,)
    margin: Array  # 1 for every other class, 0 for the row's own, shape (rows, classes)

    @classmethod
    def of(cls, credit: Array, c: float) -> _Rows:
        task, label = np.nonzero(credit)
        return cls(task, label, c * credit[task, label], 1.0 - np.eye(credit.shape[1])[label])
