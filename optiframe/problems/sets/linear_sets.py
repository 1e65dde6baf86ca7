"""Sets given by linear inequalities and equalities, and the projection onto them."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.sets.constraint_set import ConstraintSet, ScipyConstraints
from optiframe.records.fields import Array, Bound, Matrix, Vector, as_bound

_ACTIVE = 1e-12  # multipliers below this share of the largest are zero
_MET = 1e-8  # relative: equations met to this accuracy do not contradict each other
_NOTHING = 1e-10  # residual of a least distance problem without a solution
_SLACKS = (0.0, 1e-12, 1e-10)  # relative: rows that contradict each other by rounding only leave a point
_INSIDE = 1e-12  # relative to the point: excess of a row that is rounding


class Polyhedron(ConstraintSet):
    """Points whose rows ``matrix @ x`` lie between bounds: lower <= A x <= upper, entries in row-major order.

    Equal bounds make an equality, infinite ones leave a side open. The projection is exact but for
    rounding, by non-negative least squares: meant for up to some thousand rows and entries.

    Raises
    ------
    InvalidInput
        When the bounds have not one entry a row, contradict each other, or no point meets all rows.
    """

    name = "polyhedron"
    reference = "Lawson and Hanson 1974, Chapter 23 (least distance programming)"

    matrix: Matrix = Field(description="one row for each inequality or equality")
    upper: Bound = Field(
        default_factory=lambda: as_bound(np.inf), description="greatest value of each row; default: none"
    )
    lower: Bound = Field(
        default_factory=lambda: as_bound(-np.inf), description="least value of each row; default: none"
    )

    @model_validator(mode="after")
    def _bounds_fit(self) -> Self:
        rows = self.matrix.shape[0]
        for side, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound.shape not in ((), (rows,)):
                raise InvalidInput(
                    f"{side} has shape {bound.shape}; give a number or one for each of {rows} rows"
                )
        lower, upper = self._sides
        empty = np.flatnonzero((lower > upper) | (lower == np.inf) | (upper == -np.inf))
        if len(empty):
            at = empty[0]
            raise InvalidInput(f"row {at + 1}: no number lies between {lower[at]:g} and {upper[at]:g}")
        if not is_feasible(self.matrix, lower, upper):
            raise InvalidInput("no point meets all rows: the inequalities contradict each other")
        return self

    @property
    def _sides(self) -> tuple[Array, Array]:
        rows = self.matrix.shape[0]
        return np.broadcast_to(self.lower, rows), np.broadcast_to(self.upper, rows)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        _check_columns(self, self.matrix.shape[1], shape)

    def project(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        return onto_polyhedron(v.reshape(-1), self.matrix, *self._sides).reshape(v.shape)

    def violation(self, x: Array) -> float:
        """The largest distance to the half-space or hyperplane of a row; inf where an entry is not finite."""
        if not np.isfinite(x).all():
            return math.inf
        return row_violation(np.asarray(x).reshape(-1), self.matrix, *self._sides)

    def as_cvxpy(self, x: Any) -> list[Any]:
        cp = require("cvxpy", "reference")
        values = self.matrix @ cp.vec(x, order="C")
        lower, upper = self._sides
        equal = lower == upper
        constraints = [values[equal] == upper[equal]] if equal.any() else []
        for side, sign in ((lower, -1), (upper, 1)):
            closed = np.isfinite(side) & ~equal
            if closed.any():
                constraints.append(sign * values[closed] <= sign * side[closed])
        return constraints

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        from scipy.optimize import LinearConstraint

        return ScipyConstraints(others=(LinearConstraint(self.matrix, *self._sides),))


class Affine(ConstraintSet):
    """Points that meet linear equations: matrix @ x = target, entries in row-major order.

    Raises
    ------
    InvalidInput
        When the lengths disagree, or the equations contradict each other.
    """

    name = "affine"

    matrix: Matrix = Field(description="one row for each equation")
    target: Vector = Field(description="value of each row")

    @model_validator(mode="after")
    def _solvable(self) -> Self:
        if len(self.target) != self.matrix.shape[0]:
            raise InvalidInput(f"matrix has {self.matrix.shape[0]} rows, target {len(self.target)} values")
        some = self.project(np.zeros(self.matrix.shape[1]))
        if self.violation(some) > _MET * max(1.0, float(np.abs(some).max(initial=0.0))):
            raise InvalidInput("no point meets all equations: they contradict each other")
        return self

    @cached_property
    def _inverse(self) -> Array:
        return np.asarray(np.linalg.pinv(_dense(self.matrix) / self._lengths[:, None]))

    @cached_property
    def _lengths(self) -> Array:
        norms = row_norms(self.matrix)
        return np.where(norms > 0, norms, 1.0)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        _check_columns(self, self.matrix.shape[1], shape)

    def project(self, v: Array) -> Array:
        flat = np.asarray(v, dtype=np.float64).reshape(-1)
        excess = (self.matrix @ flat - self.target) / self._lengths
        return np.asarray(flat - self._inverse @ excess).reshape(np.shape(v))

    def violation(self, x: Array) -> float:
        """The largest distance to the hyperplane of an equation; inf where an entry is not finite."""
        if not np.isfinite(x).all():
            return math.inf
        return row_violation(np.asarray(x).reshape(-1), self.matrix, self.target, self.target)

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [self.matrix @ require("cvxpy", "reference").vec(x, order="C") == self.target]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        from scipy.optimize import LinearConstraint

        return ScipyConstraints(others=(LinearConstraint(self.matrix, self.target, self.target),))


class HalfSpace(ConstraintSet):
    """Points on one side of a hyperplane: <normal, x> <= offset, entries in row-major order."""

    name = "half-space"

    normal: Vector = Field(description="direction that leads out of the set")
    offset: float = Field(description="greatest inner product with the normal")

    @model_validator(mode="after")
    def _has_direction(self) -> Self:
        if not self.normal.any():
            raise InvalidInput("normal: must have an entry that is not zero")
        return self

    def check_shape(self, shape: tuple[int, ...]) -> None:
        _check_columns(self, len(self.normal), shape)

    def project(self, v: Array) -> Array:
        flat = np.asarray(v, dtype=np.float64).reshape(-1)
        length = float(row_norms(self.normal[np.newaxis])[0])
        unit = self.normal / length
        beyond = max(0.0, float(unit @ flat - self.offset / length))
        return np.asarray(flat - beyond * unit).reshape(np.shape(v))

    def as_cvxpy(self, x: Any) -> list[Any]:
        return [self.normal @ require("cvxpy", "reference").vec(x, order="C") <= self.offset]

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        from scipy.optimize import LinearConstraint

        return ScipyConstraints(others=(LinearConstraint(self.normal[np.newaxis], -np.inf, self.offset),))


def _check_columns(over: ConstraintSet, columns: int, shape: tuple[int, ...]) -> None:
    if columns != math.prod(shape):
        raise InvalidInput(
            f"a point of shape {shape} has {math.prod(shape)} entries; the set {over.name!r} is for points "
            f"of {columns}"
        )


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def is_feasible(matrix: Any, lower: Array, upper: Array, bounds: tuple[Any, Any] | None = None) -> bool:
    """Whether some x, between `bounds` where given, has lower <= matrix x <= upper; by HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    columns = matrix.shape[1]
    if not columns:
        return bool(((lower <= 0) & (upper >= 0)).all())
    # HiGHS takes large numbers for infinite, drops small ones and has an absolute tolerance: rows of length
    # one, and sides of at most one.
    norms = row_norms(matrix)
    norms = np.where(norms > 0, norms, 1.0)
    matrix = sp.diags_array(1 / norms) @ matrix if sp.issparse(matrix) else matrix / norms[:, None]
    sides = [lower / norms, upper / norms, *(np.asarray(side) for side in bounds or (-np.inf, np.inf))]
    scale = max(float(np.abs(side[np.isfinite(side)]).max(initial=0.0)) for side in sides) or 1.0
    low, high, least, most = (side / scale for side in sides)
    rows = LinearConstraint(matrix, low, high)
    found = milp(np.zeros(columns), constraints=rows, bounds=Bounds(least, most))
    return bool(found.status != 2)  # HiGHS: infeasible


def row_violation(x: Array, matrix: Any, lower: Array, upper: Array) -> float:
    """The largest distance of `x` to the half-space or hyperplane of a row."""
    values = matrix @ x
    excess = np.maximum(np.maximum(values - upper, lower - values), 0.0)
    norms = row_norms(matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A row of zeros is met everywhere or nowhere.
        return float(np.max(np.where(excess > 0, excess / norms, 0.0), initial=0.0))


def row_norms(matrix: Any) -> Array:
    """Euclidean norm of each row."""
    # The largest of a row first, so that squares neither overflow nor vanish.
    if sp.issparse(matrix):
        entries = matrix.tocoo()
        rows, sizes = entries.coords[0], np.abs(entries.data)
        largest = np.zeros(matrix.shape[0])
        np.maximum.at(largest, rows, sizes)
        scale = np.where(largest > 0, largest, 1.0)
        return np.asarray(scale * np.sqrt(np.bincount(rows, (sizes / scale[rows]) ** 2, len(scale))))
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    return np.asarray(scale * np.linalg.norm(matrix / scale[:, None], axis=1))


def onto_polyhedron(v: Array, matrix: Any, lower: Array, upper: Array) -> Array:
    """The point nearest to the vector `v` with lower <= matrix x <= upper.

    Least distance programming: with z = x - v the nearest z with G z >= h is read off the residual of the
    non-negative least squares problem min |[G'; h'] u - (0, ..., 0, 1)| (Lawson and Hanson 1974, Chapter
    23). The rows whose multipliers are positive are then met exactly.

    Raises
    ------
    InvalidInput
        When there is no such point.
    """
    from scipy.optimize import nnls

    if row_violation(v, matrix, lower, upper) <= _INSIDE * max(1.0, float(np.abs(v).max(initial=0.0))):
        return v.copy()
    dense = _dense(matrix)
    norms = row_norms(dense)
    kept = norms > 0
    dense, low, high = (part[kept] for part in (dense, lower, upper))
    dense, low, high = dense / norms[kept, None], low / norms[kept], high / norms[kept]
    below, above = np.isfinite(low), np.isfinite(high)
    rows = np.vstack([dense[below], -dense[above]])
    sides = np.concatenate([low[below], -high[above]]) - rows @ v
    scale = float(np.abs(sides).max(initial=0.0)) or 1.0
    goal = np.zeros(v.size + 1)
    goal[-1] = 1.0
    for slack in _SLACKS:
        stacked = np.vstack([rows.T, sides / scale - slack])
        u, left = nnls(stacked, goal, maxiter=100 * stacked.shape[1])
        if left > _NOTHING:
            break
    else:
        raise InvalidInput("no point meets all rows: the inequalities contradict each other")
    active = u > _ACTIVE * float(u.max(initial=0.0))
    normals = rows[active]
    move = np.linalg.lstsq(normals, sides[active], rcond=None)[0]  # the least z that meets them exactly
    return np.asarray(v + move)


def onto_bounded_row(v: Array, row: Array, sides: tuple[float, float], bounds: tuple[Array, Array]) -> Array:
    """The vector nearest to `v` between bounds whose inner product with `row` lies between two sides.

    It is ``clip(v - t * row, *bounds)`` for a number t (Held, Wolfe and Crowder 1974). The inner product
    falls as t grows, linearly between the values of t at which an entry meets a bound: halving their sorted
    list finds the piece, and the piece the number. O(n log n) time, O(n) memory; `row` has a length near 1.

    Raises
    ------
    InvalidInput
        When there is no such vector.
    """

    def at(t: float) -> Array:
        return np.asarray(np.clip(v - t * row, *bounds))

    reached = float(row @ at(0.0))
    target = min(max(reached, sides[0]), sides[1])
    if reached == target:
        return at(0.0)
    moving = row != 0
    met = np.concatenate([(v - bound)[moving] / row[moving] for bound in bounds])
    knots = np.unique(met[np.isfinite(met)])
    first, last = -1, len(knots)  # the piece lies behind knots[first] and before knots[last]
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if row @ at(knots[middle]) >= target else (first, middle)
    inside = float(knots[min(max(first, 0), len(knots) - 1)]) if len(knots) else 0.0
    left = float(knots[first]) if first >= 0 else inside - 1.0
    right = float(knots[last]) if last < len(knots) else inside + 1.0
    high, low = float(row @ at(left)), float(row @ at(right))
    if high == low:  # every entry that could move is at a bound
        if abs(high - target) > _MET * max(1.0, abs(target)):
            raise InvalidInput("no point meets the row within the bounds")
        return at(left)
    return at(left + (high - target) * (right - left) / (high - low))
