"""The multinomial logistic model: a linear model with several classes."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator
from scipy.special import logsumexp, softmax

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array, Matrix, Places, read_only


class Multinomial(FiniteSum):
    """Mean multinomial logistic loss: log of the sum of exp(A X) over the classes, less the true class's.

    A point is a matrix of d columns of features by k classes. It adds l2/2 times the squared norm of its
    entries. One value costs one pass over the matrix for k columns.

    Raises
    ------
    InvalidInput
        When there are no rows, the lengths disagree, or a class is not between 0 and k - 1.
    """

    name = "multinomial"
    convex = True

    matrix: Matrix = Field(description="features, n x d")
    target: Places = Field(description="class of each row, whole numbers from 0")
    classes: PositiveInt | None = Field(
        default=None, description="number of classes; default: the largest of target, plus one"
    )
    l2: NonNegativeFloat = Field(default=0.0, description="weight of half the squared norm of the point")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        rows, columns = self.matrix.shape
        if rows != len(self.target):
            raise InvalidInput(f"matrix has {rows} rows, target {len(self.target)} values; they must agree")
        if rows == 0 or columns == 0:
            raise InvalidInput(f"matrix is {rows} x {columns}; it must have a row and a column")
        wrong = np.flatnonzero((self.target < 0) | (self.target >= self.shape[1]))
        if len(wrong):
            raise InvalidInput(
                f"row {wrong[0] + 1}: class {self.target[wrong[0]]}; classes are 0 to {self.shape[1] - 1}"
            )
        return self

    @cached_property
    def _count(self) -> int:
        return int(self.target.max()) + 1 if self.classes is None else self.classes

    @property
    def shape(self) -> tuple[int, ...]:
        return (int(self.matrix.shape[1]), self._count)

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def _own(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        return np.arange(len(self)), self.target

    def value(self, x: Array) -> float:
        scores = np.asarray(self.matrix @ x)
        losses = logsumexp(scores, axis=1) - scores[self._own]
        return float(losses.mean() + self.l2 / 2 * np.sum(x * x))

    def gradient(self, x: Array) -> Array:
        excess = softmax(np.asarray(self.matrix @ x), axis=1)
        excess[self._own] -= 1.0
        return np.asarray(self.matrix.T @ (excess / len(self))) + self.l2 * x

    def hessian_product(self, x: Array, v: Array) -> Array:
        shares = softmax(np.asarray(self.matrix @ x), axis=1)
        moved = shares * np.asarray(self.matrix @ v)
        bent = moved - shares * moved.sum(axis=1, keepdims=True)
        return np.asarray(self.matrix.T @ (bent / len(self))) + self.l2 * v

    def curvature(self) -> float:
        """Half the largest eigenvalue of matrix' matrix / n, plus l2 (Boehning 1992)."""
        squares = LeastSquares(matrix=self.matrix, target=np.zeros(len(self)))
        return squares.curvature() / 2 + self.l2

    def take(self, indices: Any) -> Self:
        matrix, target = read_only(self.matrix[indices]), read_only(self.target[indices])
        if not len(target):
            raise InvalidInput("take at least one row")
        return type(self).model_construct(matrix=matrix, target=target, classes=self._count, l2=self.l2)

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        scores = cp.Constant(self.matrix) @ x
        own = np.zeros((len(self), self._count))
        own[self._own] = 1.0
        loss = (cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(own, scores))) / len(self)
        return loss + self.l2 / 2 * cp.sum_squares(x) if self.l2 else loss
