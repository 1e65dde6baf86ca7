"""Ready-made regularizers. Each proximal step is exact and returns a new array."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from optiframe.errors import InvalidInput, require
from optiframe.problems.regularizers.regularizer import Norm, Regularizer, over_weight
from optiframe.records.fields import Array, Places

_ROUNDING = 1e-12  # relative: a dual point so little outside its ball lies on it


class L1(Norm):
    """Sum of absolute values: favours points with many zeros."""

    name = "regularizer.l1"
    reference = "Tibshirani 1996; Parikh and Boyd 2014, Section 6.5.2"
    separable = True

    def value(self, x: Array) -> float:
        return self.weight * float(np.abs(x).sum())

    def prox(self, v: Array, step: float) -> Array:
        return _shrunk(v, step * self.weight)

    def polar(self, y: Array) -> float:
        return over_weight(float(np.max(np.abs(y), initial=0.0)), self.weight)

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        return self.weight * cp.sum(cp.abs(x))


class SquaredL2(Regularizer):
    """Half the squared Euclidean norm: keeps entries small (ridge)."""

    name = "regularizer.squared-l2"
    reference = "Parikh and Boyd 2014, Section 6.1.1"
    separable = True

    def value(self, x: Array) -> float:
        return self.weight / 2 * float(np.sum(x * x))

    def prox(self, v: Array, step: float) -> Array:
        return np.asarray(v / (1.0 + step * self.weight))

    def gradient(self, x: Array) -> Array:
        return np.asarray(self.weight * x)

    def conjugate(self, y: Array) -> float:
        size = float(np.sum(y * y))
        if self.weight == 0:
            return 0.0 if size == 0 else math.inf
        return size / (2 * self.weight)

    def as_cvxpy(self, x: Any) -> Any:
        return self.weight / 2 * require("cvxpy", "reference").sum_squares(x)


class ElasticNet(Regularizer):
    """A mixture of the sum of absolute values and half the squared norm."""

    name = "regularizer.elastic-net"
    reference = "Zou and Hastie 2005"
    separable = True

    ratio: float = Field(default=0.5, ge=0, le=1, description="share of the sum of absolute values")

    def value(self, x: Array) -> float:
        absolute, squared = float(np.abs(x).sum()), float(np.sum(x * x))
        return self.weight * (self.ratio * absolute + (1 - self.ratio) / 2 * squared)

    def prox(self, v: Array, step: float) -> Array:
        whole = step * self.weight
        return np.asarray(_shrunk(v, whole * self.ratio) / (1.0 + whole * (1 - self.ratio)))

    def conjugate(self, y: Array) -> float:
        absolute, squared = self.parts()
        return squared.conjugate(_shrunk(y, absolute.weight * (1 + _ROUNDING)))

    def parts(self) -> tuple[L1, SquaredL2]:
        """The two that are mixed, each with its own weight."""
        return L1(weight=self.weight * self.ratio), SquaredL2(weight=self.weight * (1 - self.ratio))

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        return self.weight * (self.ratio * cp.sum(cp.abs(x)) + (1 - self.ratio) / 2 * cp.sum_squares(x))


class GroupL1(Norm):
    """Sum over groups of the Euclidean norm of a group's entries: zeroes whole groups (group Lasso).

    Raises
    ------
    InvalidInput
        When there are not as many group numbers as entries of the point.
    """

    name = "regularizer.group-l1"
    reference = "Yuan and Lin 2006; Parikh and Boyd 2014, Section 6.5.4"

    groups: Places = Field(description="number of each entry's group, in row-major order")

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(self.groups) != math.prod(shape):
            raise InvalidInput(
                f"group-l1 has {len(self.groups)} group numbers, and a point of shape {shape} has "
                f"{math.prod(shape)} entries"
            )

    def value(self, x: Array) -> float:
        return self.weight * float(self._norms(x).sum())

    def prox(self, v: Array, step: float) -> Array:
        norms = self._norms(v)
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.where(norms > 0, np.maximum(0.0, 1.0 - step * self.weight / norms), 0.0)
        return np.asarray(v * kept[self._places].reshape(np.shape(v)))

    def polar(self, y: Array) -> float:
        return over_weight(float(self._norms(y).max(initial=0.0)), self.weight)

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        flat = cp.vec(x, order="C")
        members = (np.flatnonzero(self._places == group) for group in np.unique(self._places))
        return self.weight * sum(cp.norm(flat[each], 2) for each in members)

    def _norms(self, x: Array) -> Array:
        # The largest of a group first, so that squares neither overflow nor vanish.
        flat = np.abs(np.asarray(x, dtype=np.float64).reshape(-1))
        largest = np.zeros(int(self._places.max(initial=-1)) + 1)
        np.maximum.at(largest, self._places, flat)
        scale = np.where(largest > 0, largest, 1.0)
        return scale * np.sqrt(np.bincount(self._places, (flat / scale[self._places]) ** 2, len(scale)))

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """The groups numbered without gaps: what they are called is up to the caller."""
        return np.asarray(np.unique(self.groups, return_inverse=True)[1])


class NuclearNorm(Norm):
    """Sum of singular values of a matrix: favours low rank."""

    name = "regularizer.nuclear-norm"
    reference = "Cai, Candes and Shen 2010, Theorem 2.1"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise InvalidInput(f"the nuclear norm is of matrices, and a point has the shape {shape}")

    def value(self, x: Array) -> float:
        return self.weight * float(np.linalg.svd(x, compute_uv=False).sum())

    def prox(self, v: Array, step: float) -> Array:
        left, sizes, right = np.linalg.svd(v, full_matrices=False)
        return np.asarray((left * np.maximum(sizes - step * self.weight, 0.0)) @ right)

    def polar(self, y: Array) -> float:
        return over_weight(float(np.linalg.svd(y, compute_uv=False).max(initial=0.0)), self.weight)

    def as_cvxpy(self, x: Any) -> Any:
        return self.weight * require("cvxpy", "reference").normNuc(x)


class TotalVariation(Norm):
    """Sum of absolute differences of neighbouring entries of a vector: favours few steps (fused Lasso).

    The proximal step is exact and takes O(n) time for most inputs, in Python: some .3 s for a million
    entries.
    """

    name = "regularizer.total-variation"
    reference = "Rudin, Osher and Fatemi 1992; proximal step: Johnson 2013"

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 1:
            raise InvalidInput(f"total variation is of vectors here, and a point has the shape {shape}")

    def value(self, x: Array) -> float:
        return self.weight * float(np.abs(np.diff(x)).sum())

    def prox(self, v: Array, step: float) -> Array:
        return _taut(np.asarray(v, dtype=np.float64), step * self.weight)

    def polar(self, y: Array) -> float:
        sums = np.cumsum(y)
        if abs(float(sums[-1])) > 1e-9 * float(np.abs(y).sum()):  # a constant may be added to x for nothing
            return math.inf
        return over_weight(float(np.max(np.abs(sums[:-1]), initial=0.0)), self.weight)

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        return self.weight * cp.sum(cp.abs(cp.diff(x))) if x.size > 1 else cp.Constant(0.0)


class L0(Regularizer):
    """Number of entries that are not zero. Not convex: methods end at points that no step betters."""

    name = "regularizer.l0"
    reference = "Blumensath and Davies 2008"
    convex = False

    def value(self, x: Array) -> float:
        return self.weight * float(np.count_nonzero(x))

    def prox(self, v: Array, step: float) -> Array:
        return np.where(np.asarray(v) ** 2 > 2 * step * self.weight, v, 0.0)


def _shrunk(v: Array, by: float) -> Array:
    """Every entry nearer to zero by so much, or zero."""
    return np.asarray(np.sign(v) * np.maximum(np.abs(v) - by, 0.0))


def _taut(v: Array, by: float) -> Array:
    """Minimizer of |z - v|^2 / 2 + by * sum |z[i+1] - z[i]|, by Johnson's dynamic programme.

    The derivative of the least cost of z[:i+1] as a function of z[i] is piecewise linear and increasing.
    It is kept as its knots, in two lists that grow at the ends (`left` falling inwards), and is cut off at
    -by and by before the next entry is added; the cuts say where z[i] may lie, and going back settles it.
    """
    from collections import deque

    n = len(v)
    if n < 2 or by == 0:
        return v.copy()
    # A knot: its place, and by how much slope and constant of the derivative change there.
    knots: deque[tuple[float, float, float]] = deque()
    lows, highs = np.empty(n), np.empty(n)
    # Left of all knots the derivative is `slope * z + constant`, and right of all likewise.
    first = last = (1.0, -float(v[0]))
    for i in range(n - 1):
        slope, constant = first
        low = (-by - constant) / slope if slope else -math.inf
        while knots and slope * knots[0][0] + constant < -by:
            _, more, shift = knots.popleft()
            slope, constant = slope + more, constant + shift
        low = (-by - constant) / slope
        at_low = (slope, constant)
        slope, constant = last
        while knots and slope * knots[-1][0] + constant > by:
            _, more, shift = knots.pop()
            slope, constant = slope - more, constant - shift
        high = (by - constant) / slope
        at_high = (slope, constant)
        lows[i], highs[i] = low, high
        # Cut off: constant -by left of `low` and by right of `high`; then the next entry's z - v is added.
        knots.appendleft((low, at_low[0], at_low[1] + by))
        knots.append((high, -at_high[0], by - at_high[1]))
        first, last = (1.0, -by - float(v[i + 1])), (1.0, by - float(v[i + 1]))
    slope, constant = first
    while knots and slope * knots[0][0] + constant < 0:
        _, more, shift = knots.popleft()
        slope, constant = slope + more, constant + shift
    z = np.empty(n)
    z[-1] = -constant / slope
    for i in range(n - 2, -1, -1):
        z[i] = min(max(z[i + 1], lows[i]), highs[i])
    return z
