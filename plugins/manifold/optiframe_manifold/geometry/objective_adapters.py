"""Objectives in the terms of a manifold's points, for the trust-region loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, stacked
from optiframe_manifold.low_rank import LowRank


class OfFactors:
    """An objective over `LowRank` points, on the manifold of matrices of a fixed rank."""

    def __init__(self, objective: Objective, geometry: FixedRank) -> None:
        self.objective, self.geometry = objective, geometry

    def value(self, point: Factors) -> float:
        return float(self.objective.value(point.matrix))

    def gradient(self, point: Factors) -> Array:
        return stacked(self.objective.gradient(point.matrix))

    def hessian_product(self, point: Factors, v: Array) -> Array:
        # The very object that the last evaluation saw: objectives remember what they worked out there.
        return stacked(self.objective.hessian_product(point.matrix, LowRank(*self.geometry.split(v))))

    def rough_hessian_product(self, point: Factors, v: Array) -> Array:
        rough = getattr(self.objective, "rough_hessian_product", self.objective.hessian_product)
        return stacked(rough(point.matrix, LowRank(*self.geometry.split(v))))


class OfArrays:
    """An objective over arrays, on a manifold whose points and tangent vectors are arrays."""

    def __init__(self, objective: Objective, manifold: Any) -> None:
        self.objective, self.manifold = objective, manifold

    def value(self, point: Array) -> float:
        return float(self.objective.value(point))

    def gradient(self, point: Array) -> Array:
        return np.asarray(self.objective.gradient(point))

    def hessian_product(self, point: Array, v: Any) -> Array:
        # Some of pymanopt's manifolds keep tangent vectors in a form of their own.
        embedding = getattr(self.manifold, "embedding", None)
        return np.asarray(
            self.objective.hessian_product(point, v if embedding is None else embedding(point, v))
        )
