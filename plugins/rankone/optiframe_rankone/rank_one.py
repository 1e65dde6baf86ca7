"""Rank-one completion: find x with x_i x_j near the known entries of a symmetric matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from pydantic import Field, model_validator
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from optiframe.errors import InvalidInput
from optiframe.problems import Columns, Formulation, Minimize, Problem
from optiframe.sets import Box
from optiframe.values import Array, Bound, Matrix, Vector, as_bound
from optiframe_rankone.objective import RankOneLeastSquares

_NO_LIMIT = as_bound(-np.inf), as_bound(np.inf)
_DENSE = 200  # up to this size LAPACK takes a few milliseconds, less than setting up ARPACK well


class RankOneCompletion(Problem[Array]):
    """Complete a symmetric matrix of rank one from some of its entries, each with a weight.

    Minimizes ``1/2 sum_{i<j} N_ij (C_ij - x_i x_j)^2`` over ``lower <= x <= upper``: the
    weighted least squares of Lemma 6, with each unordered pair counted once. The solution
    is the vector x. Where the graph of known entries is connected and has an odd cycle,
    x is unique up to its sign for values that are exactly of rank one (Theorem 8).
    """

    name = "rank-one-completion"
    reference = "Ma et al., Lemma 6 and Sec. 6 (the box)"

    weights: Matrix = Field(description="N: symmetric, at least 0, zero for unknown; the diagonal is ignored")
    values: Matrix = Field(description="C: symmetric; only looked at where the weight is not zero")
    lower: Bound = Field(_NO_LIMIT[0], description="least x_i: a number, or one for each i")
    upper: Bound = Field(_NO_LIMIT[1], description="largest x_i: a number, or one for each i")
    start: Vector | None = Field(None, description="where solvers begin; default: 0.5, within the bounds")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        size = self.least_squares.shape[0]
        for key in ("lower", "upper"):
            if getattr(self, key).shape not in ((), (size,)):
                raise InvalidInput(f"{key} must be a number or {size} numbers, one for each row of weights")
        crossed = np.flatnonzero(np.broadcast_to(self.lower > self.upper, (size,)))
        if len(crossed):
            raise InvalidInput(f"lower is above upper for entry {crossed[0]}; no x fits")
        if self.start is not None and self.start.shape != (size,):
            raise InvalidInput(f"start has {len(self.start)} entries, weights are {size} x {size}")
        return self

    @cached_property
    def least_squares(self) -> RankOneLeastSquares:
        """The objective as a function of x."""
        return RankOneLeastSquares(weights=self.weights, values=self.values)

    def clip(self, x: Array) -> Array:
        """The nearest point within the bounds."""
        return np.clip(x, self.lower, self.upper)

    def initial(self) -> Array:
        """Where solvers begin: `start`, or one half everywhere, within the bounds.

        All equal and positive, since skills are expected to be positive on the whole, and
        not 0, where the gradient vanishes: half-way between guessing and knowing. In a
        connected component whose known entries sum to less than 0 that expectation is
        refuted and equal entries would only run into the saddle at 0; there the start is
        the leading eigenvector, along which the objective falls fastest from 0.
        """
        if self.start is not None:
            return self.clip(self.start)
        weighted = self.least_squares.weighted
        start = np.full(weighted.shape[0], 0.5)
        component = connected_components(weighted, directed=False)[1]
        refuted = np.bincount(component, weights=weighted.sum(axis=1)) < 0
        members = np.flatnonzero(refuted[component])
        members = members[np.argsort(component[members], kind="stable")]
        for group in np.split(members, np.flatnonzero(np.diff(component[members])) + 1):
            if len(group):
                start[group] = _leading_eigenvector(weighted[group][:, group])
        return self.clip(start)

    def objective(self, solution: Array) -> float:
        return self.least_squares.value(solution)

    def violation(self, solution: Array) -> float:
        return float(np.linalg.norm(solution - self.clip(solution)))

    def formulate(self) -> Formulation:
        box = Box(lower=self.lower, upper=self.upper)
        return Formulation(
            Minimize(self.least_squares, over=box, start=self.initial()), interpret=_same, encode=_same
        )

    def answer(self, solution: Array) -> dict[str, Columns]:
        return {"solution": {"index": np.arange(len(solution)), "value": solution}}


def _leading_eigenvector(matrix: sp.csr_array) -> Array:
    """Of the algebraically largest eigenvalue; largest entry 1/2 in size, sum not negative."""
    if matrix.shape[0] <= _DENSE:
        vector = np.linalg.eigh(matrix.toarray())[1][:, -1]
    else:
        vector = eigsh(matrix, k=1, which="LA", v0=np.ones(matrix.shape[0]))[1][:, 0]
    return np.asarray(vector * (0.5 / np.abs(vector).max()) * (-1.0 if vector.sum() < 0 else 1.0))


def _same(x: Any) -> Any:
    return x
