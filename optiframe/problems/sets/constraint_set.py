"""Constraint sets: where an answer may lie. The ready-made ones are in `optiframe.problems.sets.vector_sets`.

A set says how far a point is outside and which of its points is nearest; where it is
convex it can also be written for CVXPY and SciPy, so that any solver can be checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.errors import Unsuited, require
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.records.record import Record

if TYPE_CHECKING:
    from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

    from optiframe.problems.objectives.objective import Objective


@dataclass(frozen=True)
class CvxpyProgram:
    """A CVXPY problem and how to read the answer after it was solved.

    ``read()`` gives the solution in the terms of the problem it stands for;
    ``objective(value)`` turns CVXPY's optimal value into that problem's objective. `engine`
    names one of CVXPY's solvers where the kind of answer matters (a vertex, say, and not the
    middle of a face). ``judge(solution)`` gives the residual of an answer, 0.0 where it is proved best, and
    what to know of it otherwise; without it the engine's word stands.
    """

    program: Any
    read: Callable[[], Any]
    objective: Callable[[float], float] = float
    engine: str | None = None
    judge: Callable[[Any], tuple[float, str]] | None = None


@dataclass(frozen=True)
class ScipyConstraints:
    """A set in the words of `scipy.optimize.minimize`: bounds, and anything beyond them."""

    bounds: Bounds | None = None
    others: tuple[LinearConstraint | NonlinearConstraint, ...] = ()


@dataclass(frozen=True)
class LinearForm:
    """A set of flat points x: lower <= x <= upper and least <= rows @ x <= most.

    `rows` may be dense or sparse, and are none where there are only bounds; `whole` says of each entry
    whether it must be a whole number.
    """

    lower: Array
    upper: Array
    rows: Any
    least: Array
    most: Array
    whole: NDArray[np.bool_]


class ConstraintSet(Record):
    """A set of points; a frozen record whose fields are its parameters.

    Lifetime: built once, shared by problems, asked many times. `project` must not change
    its argument. A subclass gives `name`, its fields, `project`, and where it is convex
    `as_cvxpy`. A set without a projection gives `violation` and `inside` in its place. A set whose
    projection is decided by another program overrides
    `projection_as_cvxpy`. `convex` says whether `as_cvxpy` describes the set itself; `separable`
    that it bounds each entry for itself.
    A set whose points are not arrays names their `point_type` and overrides `distance`,
    `origin` and `violation`; a point has a `shape`. A kind of sets with rules of its own gives their
    checks as `contract`, as a `Part` does; `optiframe check` tries them after those of every set.
    """

    convex: ClassVar[bool] = True
    separable: ClassVar[bool] = False
    point_type: ClassVar[type] = np.ndarray
    contract: ClassVar[Sequence[Callable[[Any], None]] | str] = ()

    def project(self, v: Any) -> Any:
        """A nearest point of the set (Euclidean distance); any one of them where several are."""
        raise Unsuited(f"the set {self.name!r} has no projection")

    def farthest(self, d: Any) -> Any:
        """A point of the set that lies farthest along the direction `d`, where there is one."""
        raise Unsuited(
            f"the set {self.name!r} has no farthest point along a direction; take a solver that "
            "projects onto the set, or another set"
        )

    def distance(self, x: Any, v: Any) -> float:
        """Euclidean distance of a point `x` of the set to `v`, which may be an array or a point."""
        return float(np.linalg.norm(np.asarray(x) - v))

    def origin(self, shape: tuple[int, ...]) -> Any:
        """The point of the set nearest to the origin."""
        return np.array(self.project(np.zeros(shape)))

    def inside(self, shape: tuple[int, ...]) -> Any:
        """A point of the set to start from; the nearest to the origin by default."""
        return self.origin(shape)

    def violation(self, x: Any) -> float:
        """Euclidean distance of `x` to the set; 0.0 inside, inf where an entry is not finite."""
        if not np.isfinite(x).all():
            return math.inf
        return self.distance(self.project(x), x)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether `x` is within `tolerance` of the set."""
        return self.violation(x) <= tolerance

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Raise `InvalidInput` when points of this shape cannot be in the set; fine by default."""

    def offers(self, operation: Callable[..., Any]) -> bool:
        """Whether this set has the operation: ``constraint_set.offers(ConstraintSet.project)``."""
        return getattr(type(self), operation.__name__) is not getattr(ConstraintSet, operation.__name__)

    def lacks(self, *operations: Callable[..., Any]) -> str | None:
        """The operations of these that it has not, in words; None when it has all."""
        words = {"project": "projection", "farthest": "farthest point along a direction"}
        missing = [words.get(each.__name__, each.__name__) for each in operations if not self.offers(each)]
        return f"the set {self.name!r} has no {' and no '.join(missing)}" if missing else None

    def recommended(self, problem: str) -> Sequence[tuple[str, str]]:
        """Names of solvers for `problem` ("minimize" or "projection") over this set, as for a problem."""
        return ()

    def diagnose(self, function: Objective, x: Any) -> tuple[Finding, ...]:
        """What speaks against this set for a minimum of `function`, in words; nothing by default.

        Asked once, at the end of a run, off the clock. It should cost no more than a part of the run.
        """
        return ()

    def as_cvxpy(self, x: Any) -> list[Any] | None:
        """Constraints on the CVXPY expression `x`; None where the set is not convex."""
        return None

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints | None:
        """The set for SciPy's minimizers over flat vectors; None where it cannot be written so."""
        return None

    def as_linear(self, shape: tuple[int, ...]) -> LinearForm | None:
        """The set for linear and integer programs; None where it cannot be written so."""
        from scipy.optimize import LinearConstraint

        told, size = self.as_scipy(shape), math.prod(shape)
        if told is None or not all(isinstance(each, LinearConstraint) for each in told.others):
            return None
        lower, upper = (-np.inf, np.inf) if told.bounds is None else (told.bounds.lb, told.bounds.ub)
        parts = [each.A if sp.issparse(each.A) else np.atleast_2d(each.A) for each in told.others]
        least = [np.broadcast_to(o.lb, part.shape[0]) for o, part in zip(told.others, parts, strict=True)]
        most = [np.broadcast_to(o.ub, part.shape[0]) for o, part in zip(told.others, parts, strict=True)]
        return LinearForm(
            np.broadcast_to(np.asarray(lower, dtype=np.float64), size),
            np.broadcast_to(np.asarray(upper, dtype=np.float64), size),
            stacked(parts, size),
            np.concatenate([np.zeros(0), *least]),
            np.concatenate([np.zeros(0), *most]),
            np.zeros(size, dtype=bool),
        )

    def projection_as_cvxpy(self, v: Array) -> CvxpyProgram | None:
        """The projection of `v` as a CVXPY program of least half squared distance; None if there is none."""
        cp = require("cvxpy", "reference")
        x = cp.Variable(v.shape)
        constraints = self.as_cvxpy(x)
        if constraints is None:
            return None
        return CvxpyProgram(cp.Problem(cp.Minimize(cp.sum_squares(x - v) / 2), constraints), lambda: x.value)


def stacked(parts: Sequence[Any], columns: int) -> Any:
    """Matrices below one another: sparse where one of them is."""
    if not parts:
        return np.zeros((0, columns))
    if any(sp.issparse(part) for part in parts):
        return sp.vstack([sp.csr_array(part) for part in parts], format="csr")
    return np.vstack(parts)


class WholeSpace(ConstraintSet):
    """Every point: no constraint."""

    name = "whole-space"
    separable = True

    def project(self, v: Array) -> Array:
        return np.array(v, dtype=np.float64)

    def as_cvxpy(self, x: Any) -> list[Any]:
        return []

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        return ScipyConstraints()
