"""The objective of Huber-LASSO with the outliers minimized out: Huber's loss of differences of scores."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, PositiveFloat, PositiveInt

from optiframe.errors import InvalidInput, require
from optiframe.objectives import Objective
from optiframe.values import Accepts, Array, Vector


def _codes(value: Any) -> NDArray[np.int64]:
    codes = np.asarray(value)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InvalidInput("must be a vector of whole numbers")
    codes = codes.astype(np.int64)  # a copy of our own
    codes.flags.writeable = False
    return codes


Codes = Annotated[NDArray[np.int64], PlainValidator(_codes), Accepts("vector of whole numbers from 0")]


class HuberDifferences(Objective):
    """Sum over rows of w rho(y - (x_left - x_right)), rho quadratic up to `price` and linear beyond (Eq. 3).

    It equals the least of Huber-LASSO (Eq. 4) over the outliers. Shifting all of x changes
    nothing. Value and gradient cost one pass over the rows; the Hessian, where asked for, 8 n^2 bytes.
    """

    name = "huber-differences"
    reference = "Xu et al., Eqs. 3 and 4"

    items: PositiveInt = Field(description="length of x")
    left: Codes = Field(description="place in x of each row's left item")
    right: Codes = Field(description="place in x of each row's right item")
    margin: Vector = Field(description="y of each row")
    weight: Vector = Field(description="w of each row")
    price: PositiveFloat = Field(description="lambda: beyond this misfit the loss is linear")

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.items,)

    def misfit(self, x: Array) -> Array:
        """y - (x_left - x_right), shape (rows,)."""
        return np.asarray(self.margin - x[self.left] + x[self.right])

    def value(self, x: Array) -> float:
        size = np.abs(self.misfit(x))
        near = np.minimum(size, self.price)
        return float(self.weight @ (near * (size - near / 2)))

    def gradient(self, x: Array) -> Array:
        return self._gather(-self.weight * np.clip(self.misfit(x), -self.price, self.price))

    def hessian_product(self, x: Array, v: Array) -> Array:
        return self._gather(self._bends(x) * (v[self.left] - v[self.right]))

    def hessian(self, x: Array) -> Array:
        bends, matrix = self._bends(x), np.zeros((self.items, self.items))
        for i, j, sign in ((self.left, self.right, -1.0), (self.right, self.left, -1.0)):
            np.add.at(matrix, (i, j), sign * bends)
            np.add.at(matrix, (i, i), bends)
        return matrix

    def curvature(self) -> float:
        """Largest sum of the degrees of two compared items: Anderson and Morley's bound (1985)."""
        degree = np.bincount(self.left, self.weight, self.items) + np.bincount(
            self.right, self.weight, self.items
        )
        return float((degree[self.left] + degree[self.right]).max())

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        misfit = self.margin - x[self.left] + x[self.right]
        return cp.sum(cp.multiply(self.weight, cp.huber(misfit, self.price))) / 2  # theirs is twice ours

    def _bends(self, x: Array) -> Array:
        return np.where(np.abs(self.misfit(x)) <= self.price, self.weight, 0.0)

    def _gather(self, r: Array) -> Array:
        into = np.bincount(self.left, r, self.items)
        return np.asarray(into - np.bincount(self.right, r, self.items))
