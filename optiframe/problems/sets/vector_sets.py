"""Ready-made constraint sets over arrays of any shape.

Every projection is exact (no iteration) and returns a new array; points are taken to be
finite. Where a set speaks of a vector, the entries of the point are meant.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveFloat, model_validator
from scipy.sparse import eye_array

from optiframe.errors import InvalidInput, require
from optiframe.problems.sets.constraint_set import ConstraintSet, CvxpyProgram, LinearForm, ScipyConstraints
from optiframe.records.fields import Array, Bound, Places, as_bound

if TYPE_CHECKING:
    from scipy.optimize import Bounds


class Box(ConstraintSet):
    """Entries between bounds: lower <= x <= upper.

    A bound is a number or an array that broadcasts to the point's shape; infinite entries
    leave that side open.

    Raises
    ------
    InvalidInput
        When no number lies between the two bounds of an entry, naming it.
    """

    name = "box"
    separable = True

    lower: Bound = Field(default_factory=lambda: as_bound(-np.inf), description="least value; default: none")
    upper: Bound = Field(
        default_factory=lambda: as_bound(np.inf), description="greatest value; default: none"
    )

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        try:
            lower, upper = np.broadcast_arrays(self.lower, self.upper)
        except ValueError:
            raise InvalidInput(
                f"lower has shape {self.lower.shape} and upper {self.upper.shape}; "
                "give both the shape of the point, or a number"
            ) from None
        empty = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
        if empty.any():
            at = tuple(np.argwhere(empty)[0].tolist())
            entry = f"entry {list(at)}: " if at else ""
            raise InvalidInput(f"{entry}no number lies between lower {lower[at]:g} and upper {upper[at]:g}")
        return self

    def check_shape(self, shape: tuple[int, ...]) -> None:
        for side, bound in (("lower", self.lower), ("upper", self.upper)):
            try:
                np.broadcast_to(bound, shape)
            except ValueError:
                raise InvalidInput(
                    f"the box's {side} bound has shape {bound.shape} and the point {shape}; "
                    "give the bound that shape, or a number"
                ) from None

    def project(self, v: Array) -> Array:
        return np.asarray(np.clip(v, self.lower, self.upper))

    def offers(self, operation: Any) -> bool:
        if operation.__name__ == "farthest":
            return bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())
        return super().offers(operation)

    def farthest(self, d: Array) -> Array:
        if not self.offers(ConstraintSet.farthest):
            return np.asarray(super().farthest(d))
        return np.where(np.asarray(d) < 0, self.lower, self.upper)

    def as_cvxpy(self, x: Any) -> list[Any]:
        constraints = []
        for side, sign in ((self.lower, 1), (self.upper, -1)):
            bound = np.broadcast_to(side, x.shape)
            closed = np.isfinite(bound)  # CVXPY takes no infinite constants: open sides are left out
            if closed.all():
                constraints.append(sign * x >= sign * bound)
            elif closed.any():
                constraints.append(sign * x[closed] >= sign * bound[closed])
        return constraints

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        return ScipyConstraints(_bounds(self.lower, self.upper, shape))


class LInfBall(ConstraintSet):
    """No absolute value above a radius."""

    name = "linf-ball"
    separable = True

    radius: PositiveFloat = Field(description="greatest absolute value of an entry")

    def project(self, v: Array) -> Array:
        return np.asarray(np.clip(v, -self.radius, self.radius))

    def farthest(self, d: Array) -> Array:
        return np.where(np.asarray(d) < 0, -self.radius, self.radius)

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [x >= -self.radius, x <= self.radius]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        return ScipyConstraints(_bounds(-self.radius, self.radius, shape))


class Integers(ConstraintSet):
    """Whole numbers between two bounds, in every entry or in some.

    Raises
    ------
    InvalidInput
        When no whole number lies between the bounds, or there is no such entry.
    """

    name = "integers"
    convex = False
    separable = True

    lower: float = Field(default=-math.inf, allow_inf_nan=True, description="least value; default: none")
    upper: float = Field(default=math.inf, allow_inf_nan=True, description="greatest value; default: none")
    entries: Places | None = Field(
        default=None, description="entries that are whole and bounded, in row-major order; default: every one"
    )

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not np.ceil(self.lower) <= np.floor(self.upper):
            raise InvalidInput(f"no whole number lies between lower {self.lower:g} and upper {self.upper:g}")
        return self

    def check_shape(self, shape: tuple[int, ...]) -> None:
        wrong = [] if self.entries is None else [i for i in self.entries if not 0 <= i < math.prod(shape)]
        if wrong:
            raise InvalidInput(f"entries: there is no entry {wrong[0]} in a point of shape {shape}")

    def project(self, v: Array) -> Array:
        nearest = np.clip(np.round(v), np.ceil(self.lower), np.floor(self.upper))
        return np.where(self._whole(np.shape(v)), nearest, v)

    def as_linear(self, shape: tuple[int, ...]) -> LinearForm:
        whole, size = self._whole(shape).reshape(-1), math.prod(shape)
        none = np.zeros(0)
        lower, upper = np.where(whole, self.lower, -np.inf), np.where(whole, self.upper, np.inf)
        return LinearForm(lower, upper, np.zeros((0, size)), none, none, whole)

    def _whole(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        whole = np.full(math.prod(shape), self.entries is None)
        if self.entries is not None:
            whole[self.entries] = True
        return whole.reshape(shape)


class NonNegative(ConstraintSet):
    """No entry below zero."""

    name = "non-negative"
    separable = True

    def project(self, v: Array) -> Array:
        return np.asarray(np.maximum(v, 0.0))

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [x >= 0]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        return ScipyConstraints(_bounds(0.0, np.inf, shape))


class L1Ball(ConstraintSet):
    """Sum of absolute values at most a radius.

    The projection is exact and sorts the entries: O(n log n) time, O(n) memory.
    """

    name = "l1-ball"
    reference = "Duchi, Shalev-Shwartz, Singer, Chandra 2008, Figure 1 and Section 4"

    radius: PositiveFloat = Field(description="greatest sum of absolute values")

    def project(self, v: Array) -> Array:
        size = np.abs(v)
        if size.sum() <= self.radius:
            return np.array(v, dtype=np.float64)
        return np.asarray(np.sign(v) * _onto_simplex(size, self.radius))

    def farthest(self, d: Array) -> Array:
        return _one_entry(np.abs(d), np.where(np.asarray(d) < 0, -self.radius, self.radius))

    def as_cvxpy(self, x: Any) -> list[Any]:
        cp = require("cvxpy", "reference")
        return [cp.sum(cp.abs(x)) <= self.radius]


class L2Ball(ConstraintSet):
    """Euclidean norm of all entries at most a radius."""

    name = "l2-ball"

    radius: PositiveFloat = Field(description="greatest Euclidean norm")

    def project(self, v: Array) -> Array:
        largest = float(np.max(np.abs(v), initial=0.0))
        scaled = v / largest if largest > 0 else v  # so that squares neither overflow nor vanish
        norm = float(np.linalg.norm(scaled))
        if largest * norm <= self.radius:
            return np.array(v, dtype=np.float64)
        return np.asarray(scaled * (self.radius / norm))

    def farthest(self, d: Array) -> Array:
        size = float(np.linalg.norm(d))
        return np.asarray(d) * (self.radius / size) if size > 0 else np.zeros(np.shape(d))

    def as_cvxpy(self, x: Any) -> list[Any]:
        cp = require("cvxpy", "reference")
        return [cp.norm(cp.vec(x, order="C"), 2) <= self.radius]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        from scipy.optimize import NonlinearConstraint

        # Half the squared norm: unlike the norm it has derivatives at the origin, too.
        identity = eye_array(math.prod(shape), format="csr")
        inside = NonlinearConstraint(
            lambda x: x @ x / 2,
            -np.inf,
            self.radius**2 / 2,
            jac=lambda x: x[np.newaxis, :],
            hess=lambda x, multipliers: multipliers[0] * identity,
        )
        return ScipyConstraints(others=(inside,))


class Simplex(ConstraintSet):
    """Non-negative entries with a given sum.

    The projection is exact and sorts the entries: O(n log n) time, O(n) memory.
    """

    name = "simplex"
    reference = "Duchi, Shalev-Shwartz, Singer, Chandra 2008, Figure 1"

    total: PositiveFloat = Field(default=1.0, description="sum of the entries")

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if math.prod(shape) == 0:
            raise InvalidInput(f"a point of shape {shape} has no entries that could sum to {self.total:g}")

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        if (v >= 0).all() and v.sum() == self.total:
            return v.copy()  # a point of the set stays bit for bit, so that its violation is 0.0
        return _onto_simplex(v, self.total)

    def farthest(self, d: Array) -> Array:
        return _one_entry(np.asarray(d), np.full(np.shape(d), self.total))

    def as_cvxpy(self, x: Any) -> list[Any]:
        cp = require("cvxpy", "reference")
        return [x >= 0, cp.sum(x) == self.total]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        from scipy.optimize import LinearConstraint

        total = LinearConstraint(np.ones((1, math.prod(shape))), self.total, self.total)
        return ScipyConstraints(_bounds(0.0, np.inf, shape), (total,))


class Cardinality(ConstraintSet):
    """At most so many entries that are not zero.

    The projection keeps the entries of largest magnitude; where magnitudes tie, those of
    lowest index (in row-major order). O(n) time and memory.
    """

    name = "cardinality"
    convex = False

    size: NonNegativeInt = Field(description="greatest number of entries that are not zero")

    def project(self, v: Array) -> Array:
        flat = np.array(v, dtype=np.float64).reshape(-1)
        magnitude = np.abs(flat)
        magnitude[np.isnan(magnitude)] = np.inf  # kept: dropped, a wrong point would look like one of the set
        return _keep_largest(flat, magnitude, self.size).reshape(np.shape(v))

    def projection_as_cvxpy(self, v: Array) -> CvxpyProgram:
        """The linear program over supports: keep as much squared magnitude as `size` entries can hold.

        Its vertices are supports, so its optimal value is the projection's even where ties
        let the answer be fractional; `read` then keeps the `size` largest shares.
        """
        cp = require("cvxpy", "reference")
        flat = np.array(v, dtype=np.float64).reshape(-1)
        energy = flat**2
        share = cp.Variable(flat.size)
        held = cp.Problem(cp.Maximize(energy @ share), [share >= 0, share <= 1, cp.sum(share) <= self.size])
        return CvxpyProgram(
            held,
            read=lambda: _keep_largest(flat, share.value, self.size).reshape(np.shape(v)),
            objective=lambda value: float(energy.sum() - value) / 2,
        )


class ZeroSum(ConstraintSet):
    """Entries that sum to zero."""

    name = "zero-sum"

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        return np.asarray(v - v.sum() / max(v.size, 1))

    def as_cvxpy(self, x: Any) -> list[Any]:
        cp = require("cvxpy", "reference")
        return [cp.sum(x) == 0]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        from scipy.optimize import LinearConstraint

        return ScipyConstraints(others=(LinearConstraint(np.ones((1, math.prod(shape))), 0.0, 0.0),))


def _bounds(lower: Array | float, upper: Array | float, shape: tuple[int, ...]) -> Bounds:
    from scipy.optimize import Bounds

    return Bounds(np.broadcast_to(lower, shape).ravel(), np.broadcast_to(upper, shape).ravel())


def _one_entry(sizes: Array, values: Array) -> Array:
    """Zero but for the entry of largest size (the first on ties), which has its value."""
    point = np.zeros(sizes.shape)
    if not point.size:
        return point
    at = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
    point[at] = values[at]
    return point


def _onto_simplex(v: Array, total: float) -> Array:
    """Nearest array with non-negative entries summing to `total` (Duchi et al. 2008, Figure 1)."""
    # Adding a constant to all entries leaves the answer as it is; without a large common
    # part the cumulative sums lose no digits.
    shifted = v - v.max()
    falling = np.sort(shifted, axis=None)[::-1]
    excess = np.cumsum(falling) - total
    positive = np.count_nonzero(falling * np.arange(1, v.size + 1) > excess)
    threshold = excess[positive - 1] / positive
    return np.asarray(np.maximum(shifted - threshold, 0.0))


def _keep_largest(values: Array, weight: Array, size: int) -> Array:
    """`values` where `weight` is among the `size` largest, lowest index first on ties; zero elsewhere."""
    if size >= values.size:
        return values.copy()
    kept = np.zeros(values.shape)
    if size == 0:
        return kept
    # Zeros that tie make NumPy's partition ten times as slow.
    positive = weight[weight > 0]
    among = positive if positive.size >= size else weight
    smallest = np.partition(among, -size)[-size]
    # Everything above the smallest kept weight stays; of its equals, as many as there is room for.
    above = (weight > smallest).nonzero()[0]
    tied = (weight == smallest).nonzero()[0][: size - above.size]
    kept[above], kept[tied] = values[above], values[tied]
    return kept
