"""A linear model whose equal rows are counted in place of being listed."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array


class GroupedRows(Objective):
    """The weighted sum of a linear model's losses, plus its l2 term.

    Parameters
    ----------
    model
        A `LinearModel` over the rows that differ.
    weights
        Of its rows: the share of all rows that each stands for, shape (rows,).
    """

    name = "grouped-rows"

    model: Any
    weights: Any

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.model.shape
        return shape

    def value(self, x: Array) -> float:
        return float(self.weights @ self.model.losses(self.model.matrix @ x) + self.model.penalty(x))

    def gradient(self, x: Array) -> Array:
        return self.value_and_gradient(x)[1]

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        matrix, ridge = self.model.matrix, self.model.ridge
        z = matrix @ x
        value = self.weights @ self.model.losses(z) + self.model.penalty(x)
        return float(value), np.asarray(matrix.T @ (self.weights * self.model.slopes(z)) + ridge * x)

    def hessian_product(self, x: Array, v: Array) -> Array:
        bends = self.weights * self.model.bends(self.model.matrix @ x)
        return np.asarray(self.model.matrix.T @ (bends * (self.model.matrix @ v)) + self.model.ridge * v)

    def hessian(self, x: Array) -> Array:
        bends = self.weights * self.model.bends(self.model.matrix @ x)
        columns = self.model.matrix
        columns = columns if isinstance(columns, np.ndarray) else columns.toarray()
        return np.asarray(columns.T @ (bends[:, np.newaxis] * columns) + self.model.ridge * np.eye(len(x)))
