"""Linear models for outliers, quantiles and counts."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PlainValidator, PositiveFloat
from scipy.special import xlogy

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.losses import LinearModel
from optiframe.records.fields import Accepts, Array, as_vector


class Huber(LinearModel):
    """Mean Huber loss: half the squared residual near zero, linear beyond a threshold.

    A target far off pulls no harder than one at the threshold.
    """

    name = "huber"
    convex = True
    most_bend = 1.0
    reference = "Huber 1964"

    threshold: PositiveFloat = Field(default=1.0, description="residual beyond which the loss is linear")

    def losses(self, z: Array) -> Array:
        size = np.abs(z - self.target)
        return np.where(size <= self.threshold, size**2 / 2, self.threshold * (size - self.threshold / 2))

    def slopes(self, z: Array) -> Array:
        return np.asarray(np.clip(z - self.target, -self.threshold, self.threshold))

    def bends(self, z: Array) -> Array:
        return (np.abs(z - self.target) <= self.threshold).astype(np.float64)

    def conjugates(self, u: Array) -> Array:
        return np.where(np.abs(u) <= self.threshold, u * (u / 2 + self.target), np.inf)

    def proximals(self, v: Array, step: float) -> Array:
        residual = v - self.target
        return np.asarray(v - step * np.clip(residual / (1 + step), -self.threshold, self.threshold))

    def loss_as_cvxpy(self, z: Any) -> Any:
        cp = require("cvxpy", "reference")
        return cp.sum(cp.huber(z - self.target, self.threshold)) / 2


class Quantile(LinearModel):
    """Mean quantile loss of a level: the least one predicts that quantile of the target.

    A residual y - z costs `level` times its size above zero and 1 - `level` times below; half the absolute
    error at the level 0.5. It has corners, so that it offers no gradient.
    """

    name = "quantile"
    convex = True
    smooth = False
    most_bend = math.inf
    reference = "Koenker and Bassett 1978"

    level: float = Field(default=0.5, gt=0, lt=1, description="share of targets that shall lie below")

    def losses(self, z: Array) -> Array:
        residual = self.target - z
        return np.asarray(np.maximum(self.level * residual, (self.level - 1) * residual))

    def slopes(self, z: Array) -> Array:
        return np.where(z < self.target, -self.level, np.where(z > self.target, 1 - self.level, 0.0))

    def bends(self, z: Array) -> Array:
        return np.zeros_like(z)

    def conjugates(self, u: Array) -> Array:
        inside = (u >= -self.level) & (u <= 1 - self.level)
        return np.where(inside, u * self.target, np.inf)

    def proximals(self, v: Array, step: float) -> Array:
        low, high = v - step * (1 - self.level), v + step * self.level
        return np.asarray(np.clip(self.target, low, high))

    def loss_as_cvxpy(self, z: Any) -> Any:
        cp = require("cvxpy", "reference")
        residual = self.target - z
        return cp.sum(cp.maximum(self.level * residual, (self.level - 1) * residual))


def as_counts(value: Any) -> Array:
    """A read-only vector of numbers of at least zero."""
    counts = as_vector(value)
    wrong = np.flatnonzero(counts < 0)
    if len(wrong):
        raise InvalidInput(f"row {wrong[0] + 1}: {counts[wrong[0]]:g}; a count is at least 0")
    return counts


class Poisson(LinearModel):
    """Mean Poisson loss of counts whose logarithm is linear: exp(z) - y z, plus what makes a perfect fit 0.

    The curvature has no bound; methods that need one take another way.
    """

    name = "poisson"
    convex = True
    most_bend = math.inf

    target: Annotated[
        Array,
        PlainValidator(as_counts),
        Accepts("vector of counts, or path of a CSV or NPY file"),
    ] = Field(description="count of each row, at least 0; or give data")

    def losses(self, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(z) - self.target * z + xlogy(self.target, self.target) - self.target)

    def slopes(self, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(z) - self.target)

    def bends(self, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(z))

    def conjugates(self, u: Array) -> Array:
        rate = u + self.target
        full = xlogy(rate, rate) - rate - xlogy(self.target, self.target) + self.target
        return np.where(rate >= 0, full, np.inf)

    def loss_as_cvxpy(self, z: Any) -> Any:
        cp = require("cvxpy", "reference")
        constant = float(np.sum(xlogy(self.target, self.target) - self.target))
        return cp.sum(cp.exp(z) - cp.multiply(self.target, z)) + constant
