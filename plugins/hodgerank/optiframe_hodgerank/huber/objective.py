"""The objective of Huber-LASSO with the outliers minimized out: Huber's loss of differences of scores."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array, Places, Vector


def _refuse(name: str, what: str) -> NoReturn:
    raise InvalidInput(f"{name}: {what}", [((name,), what)])


class HuberDifferences(Objective):
    """Sum over rows of w rho(y - (x_left - x_right)), rho quadratic up to `price` and linear beyond (Eq. 3).

    It equals the least of Huber-LASSO (Eq. 4) over the outliers. Shifting all of x changes
    nothing. Value and gradient cost one pass over the rows; the Hessian, where asked for, 8 n^2 bytes.
    """

    name = "huber-differences"
    reference = "Xu et al., Eqs. 3 and 4"

    items: PositiveInt = Field(description="length of x")
    left: Places = Field(description="place in x of each row's left item")
    right: Places = Field(description="place in x of each row's right item")
    margin: Vector = Field(description="y of each row")
    weight: Vector = Field(description="w of each row")
    price: PositiveFloat = Field(description="lambda: beyond this misfit the loss is linear")

    @model_validator(mode="after")
    def _rows_make_sense(self) -> Self:
        for name in ("right", "margin", "weight"):
            if len(getattr(self, name)) != len(self.left):
                _refuse(name, f"has {len(getattr(self, name))} entries, and left has {len(self.left)}")
        for name, codes in (("left", self.left), ("right", self.right)):
            outside = np.flatnonzero((codes < 0) | (codes >= self.items))
            if len(outside):
                one = outside[0]
                _refuse(name, f"entry {one} is {codes[one]}; places in x go from 0 to {self.items - 1}")
        below = np.flatnonzero(self.weight < 0)
        if len(below):
            _refuse("weight", f"entry {below[0]} is {self.weight[below[0]]:g}; a weight is 0 or more")
        return self

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
        for i, j in ((self.left, self.right), (self.right, self.left)):
            np.add.at(matrix, (i, j), -bends)
            np.add.at(matrix, (i, i), bends)
        return matrix

    def curvature(self) -> float:
        """Largest sum of the degrees of two compared items: Anderson and Morley's bound (1985)."""
        degree = np.bincount(self.left, self.weight, self.items) + np.bincount(
            self.right, self.weight, self.items
        )
        return float((degree[self.left] + degree[self.right]).max(initial=0.0))

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        misfit = self.margin - x[self.left] + x[self.right]
        return cp.sum(cp.multiply(self.weight, cp.huber(misfit, self.price))) / 2  # theirs is twice ours

    def _bends(self, x: Array) -> Array:
        return np.where(np.abs(self.misfit(x)) <= self.price, self.weight, 0.0)

    def _gather(self, r: Array) -> Array:
        into = np.bincount(self.left, r, self.items)
        return np.asarray(into - np.bincount(self.right, r, self.items))
