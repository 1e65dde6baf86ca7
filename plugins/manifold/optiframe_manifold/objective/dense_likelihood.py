"""The objective of collaborative ranking over whole matrices, for the convex relaxations."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe_manifold.kernels import passes
from optiframe_manifold.objective.btl import BtlObjective


class DenseBtl(Objective):
    """`BtlObjective` as a function of the m x n array X itself, of which it is convex.

    An evaluation takes O(comparisons + m n) time and some arrays of 8 m n bytes: for matrices that
    one would also decompose whole.
    """

    name = "bradley-terry-dense"
    reference = "Dong et al., Eqs. 4 and 9"

    of: BtlObjective = Field(
        description="the BtlObjective, a function of factors, that holds the comparisons"
    )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.of.shape

    def value(self, x: Array) -> float:
        return self._loss(x)[0] + self._penalty(x)[0]

    def gradient(self, x: Array) -> Array:
        return self.value_and_gradient(x)[1]

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        f, x = self.of, np.ascontiguousarray(x, dtype=np.float64)
        loss, slope = self._loss(x)
        penalty, pull = self._penalty(x)
        gradient = np.zeros(f.shape) if pull is None else pull
        passes.spread(gradient, f.pointer, f.winner, f.loser, slope)
        return loss + penalty, gradient

    def _loss(self, x: Array) -> tuple[float, Array]:
        """The negative log-likelihood, and its derivative by each margin."""
        f, x = self.of, np.ascontiguousarray(x, dtype=np.float64)
        count = len(f.winner)
        margin, slope, bend = np.empty(count), np.empty(count), np.empty(count)
        passes.gather(x, f.pointer, f.winner, f.loser, margin)
        weight = np.empty(0) if f.weight is None else f.weight
        return passes.log_loss(margin, f.sigma, weight, slope, bend), slope

    def _penalty(self, x: Array) -> tuple[float, Array | None]:
        f = self.of
        if f.exponents:
            square = x * x
            shift = float(square.max(initial=0.0))
            grown = np.exp(square - shift)
            total = float(grown.sum())
            return f.strength * (np.log(total) + shift), (2 * f.strength / total) * x * grown
        if f.ridge:
            return f.ridge / 2 * float(np.vdot(x, x)), f.ridge * x
        return 0.0, None

    def as_cvxpy(self, x: Any) -> Any:
        return self.of.as_cvxpy(x)
