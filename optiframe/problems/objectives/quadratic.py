"""Objectives that are polynomials of degree one or two: linear and quadratic programs."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.objective import Objective, Quadratic
from optiframe.records.fields import AnyArray, Array, Matrix, Vector

_ROUNDING = 1e-12  # relative to the largest eigenvalue: one so little below zero is zero
_SYMMETRIC = 1e-12  # relative to the largest entry


class Linear(Objective):
    """The inner product with a cost: over linear constraints, a linear program."""

    name = "linear"
    convex = True

    cost: AnyArray = Field(description="what a unit of each entry of the point costs")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cost.shape

    def value(self, x: Array) -> float:
        return float(np.vdot(self.cost, x))

    def gradient(self, x: Array) -> Array:
        return np.array(self.cost)

    def hessian_product(self, x: Array, v: Array) -> Array:
        return np.zeros(self.shape)

    def hessian(self, x: Array) -> Array:
        return np.zeros((self.cost.size, self.cost.size))

    def curvature(self) -> float:
        return 0.0

    def quadratic(self) -> Quadratic:
        return Quadratic(None, np.array(self.cost).reshape(-1), 0.0)

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        return cp.sum(cp.multiply(self.cost, x))


class QuadraticForm(Objective):
    """Half a quadratic form of a vector plus a linear term: x' matrix x / 2 + linear' x + constant.

    It is convex where the matrix has no negative eigenvalue; that is found out once, in O(d^3) time.

    Raises
    ------
    InvalidInput
        When the matrix is not square or not symmetric, or the linear term has another length.
    """

    name = "quadratic"

    matrix: Matrix = Field(description="symmetric matrix of the form, d x d")
    linear: Vector | None = Field(default=None, description="linear term; default: none")
    constant: float = Field(default=0.0, description="added to the value")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        rows, columns = self.matrix.shape
        if rows != columns:
            raise InvalidInput(f"matrix is {rows} x {columns}; it must be square")
        if not rows:
            raise InvalidInput("matrix is empty; it must have a row")
        if self.linear is not None and len(self.linear) != rows:
            raise InvalidInput(f"linear has {len(self.linear)} entries, matrix {rows} rows; they must agree")
        if abs(self.matrix - self.matrix.T).max() > _SYMMETRIC * abs(self.matrix).max():
            raise InvalidInput("matrix is not symmetric; give (P + P') / 2, which has the same form")
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return (int(self.matrix.shape[0]),)

    @cached_property
    def _linear(self) -> Array:
        return np.zeros(self.shape) if self.linear is None else self.linear

    @cached_property
    def _eigenvalues(self) -> Array:
        return np.asarray(np.linalg.eigvalsh(self.hessian(np.empty(0))))

    @property
    def convex(self) -> bool:  # type: ignore[override]  # of this matrix
        return bool(self._eigenvalues[0] >= -_ROUNDING * np.abs(self._eigenvalues).max())

    def value(self, x: Array) -> float:
        return float(x @ (self.matrix @ x) / 2 + self._linear @ x) + self.constant

    def gradient(self, x: Array) -> Array:
        return np.asarray(self.matrix @ x + self._linear)

    def hessian_product(self, x: Array, v: Array) -> Array:
        return np.asarray(self.matrix @ v)

    def hessian(self, x: Array) -> Array:
        return np.array(self.matrix.toarray() if sp.issparse(self.matrix) else self.matrix)

    def curvature(self) -> float:
        return float(np.abs(self._eigenvalues).max()) * (1 + _ROUNDING)

    def quadratic(self) -> Quadratic:
        matrix = self.matrix if abs(self.matrix).max() > 0 else None
        return Quadratic(matrix, np.array(self._linear), self.constant)

    def as_cvxpy(self, x: Any) -> Any:
        if not self.convex:
            return None
        cp = require("cvxpy", "reference")
        form = cp.quad_form(x, cp.psd_wrap(self.matrix))
        return form / 2 + self._linear @ x + self.constant
