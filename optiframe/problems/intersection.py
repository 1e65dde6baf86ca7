"""Several constraint sets at once."""

from __future__ import annotations

import math
import warnings
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from optiframe.errors import InvalidInput, Unsuited
from optiframe.problems.constraints import ConstraintSet, ScipyConstraints
from optiframe.problems.linear_sets import is_feasible, onto_bounded_row, onto_polyhedron
from optiframe.problems.points import named
from optiframe.records.fields import Accepts, Array

if TYPE_CHECKING:
    from scipy.optimize import Bounds, LinearConstraint

_SWEEPS = 10_000
_STILL = 1e-12  # relative move of the point by any member in a sweep at which Dykstra's method ends
_MOST = 4_000_000  # entries of a dense matrix of rows and bounds; beyond it takes minutes
_ACCURATE = 1e-8  # relative violation beyond which its answer is not believed

_one = named("constraint set")


def _members(value: Any) -> Any:
    return tuple(_one(each) for each in value) if isinstance(value, list | tuple) else value


class NotAccurate(UserWarning):
    """A projection that is found by iteration has not reached its accuracy."""


class Intersection(ConstraintSet):
    """Points that lie in every one of several sets.

    In a file, ``over = [{name = "simplex"}, {name = "box", upper = 0.3}]``. The projection is exact where the
    sets are bounds, bounds and one linear row (a simplex in a box, of any size), or all linear (for up to
    some thousand rows and entries); otherwise it is Dykstra's method over the members' projections, which
    warns when it has not reached its accuracy: the smaller the angle between the sets, the slower it
    converges. There is none where a member is not convex.

    Raises
    ------
    InvalidInput
        With fewer than one set, when the sets hold different kinds of points, and, for linear sets, when
        no point lies in all of them.
    """

    name = "intersection"
    reference = "Boyle and Dykstra 1986; Bauschke and Borwein 1994"

    sets: Annotated[
        tuple[ConstraintSet, ...],
        BeforeValidator(_members),
        PlainSerializer(
            lambda sets: [{"name": each.name, **each.model_dump(by_alias=True)} for each in sets]
        ),
        Accepts("a list of sets, each by name with its parameters"),
    ] = Field(description="the sets")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if not self.sets:
            raise InvalidInput("sets: give at least one set")
        kinds = {each.point_type for each in self.sets}
        if len(kinds) > 1:
            raise InvalidInput(f"sets: they hold different points: {', '.join(k.__name__ for k in kinds)}")
        return self

    @property
    def convex(self) -> bool:  # type: ignore[override]  # of the members
        return all(each.convex for each in self.sets)

    @property
    def separable(self) -> bool:  # type: ignore[override]
        return all(each.separable for each in self.sets)

    def offers(self, operation: Any) -> bool:
        return super().offers(operation) and (
            operation.__name__ != "project"
            or (all(each.offers(operation) for each in self.sets) and (self.convex or len(self.sets) == 1))
        )

    def lacks(self, *operations: Any) -> str | None:
        missing = super().lacks(*operations)
        others = " and ".join(repr(each.name) for each in self.sets if not each.convex)
        return f"{missing}: not convex is {others}" if missing and others else missing

    def check_shape(self, shape: tuple[int, ...]) -> None:
        for each in self.sets:
            each.check_shape(shape)
        linear = self._linear(shape)
        if linear is None:
            return
        bounds, rows = linear
        if (bounds.lb > bounds.ub).any():
            at = int(np.argmax(bounds.lb > bounds.ub))
            raise InvalidInput(
                f"no point lies in all of {self._names()}: entry {at + 1} would have to be at least "
                f"{bounds.lb[at]:g} and at most {bounds.ub[at]:g}"
            )
        if rows is not None and not is_feasible(rows.A, rows.lb, rows.ub, (bounds.lb, bounds.ub)):
            raise InvalidInput(f"no point lies in all of {self._names()}")

    def project(self, v: Array) -> Array:
        if not self.offers(ConstraintSet.project):  # Dykstra's method holds for convex sets only
            raise Unsuited(self.lacks(ConstraintSet.project) or "")
        if len(self.sets) == 1:
            return np.asarray(self.sets[0].project(v))
        v = np.asarray(v, dtype=np.float64)
        linear = self._linear(v.shape)
        if linear is None:
            return self._dykstra(v)
        bounds, rows = linear
        if rows is None:
            return np.asarray(np.clip(v.reshape(-1), bounds.lb, bounds.ub)).reshape(v.shape)
        if len(rows.A) == 1 and (size := float(np.linalg.norm(rows.A))) > 0:
            flat, row = v.reshape(-1), rows.A[0] / size
            sides = float(rows.lb[0] / size), float(rows.ub[0] / size)
            return onto_bounded_row(flat, row, sides, (bounds.lb, bounds.ub)).reshape(v.shape)
        bounded = np.isfinite(bounds.lb) | np.isfinite(bounds.ub)
        if v.size * (len(rows.A) + int(bounded.sum())) > _MOST:
            return self._dykstra(v)
        matrix = np.vstack([rows.A, np.eye(v.size)[bounded]])
        lower = np.concatenate([rows.lb, bounds.lb[bounded]])
        upper = np.concatenate([rows.ub, bounds.ub[bounded]])
        found = onto_polyhedron(v.reshape(-1), matrix, lower, upper)
        return np.asarray(np.clip(found, bounds.lb, bounds.ub)).reshape(v.shape)

    def violation(self, x: Array) -> float:
        """The largest violation of a member."""
        return max(each.violation(x) for each in self.sets)

    def as_cvxpy(self, x: Any) -> list[Any] | None:
        constraints: list[Any] = []
        for each in self.sets:
            theirs = each.as_cvxpy(x)
            if theirs is None:
                return None
            constraints += theirs
        return constraints

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints | None:
        from scipy.optimize import Bounds

        forms = [each.as_scipy(shape) for each in self.sets]
        known = [form for form in forms if form is not None]
        if len(known) < len(forms):
            return None
        bounds = [form.bounds for form in known if form.bounds is not None]
        both = (
            Bounds(
                reduce(np.maximum, (np.broadcast_to(b.lb, math.prod(shape)) for b in bounds)),
                reduce(np.minimum, (np.broadcast_to(b.ub, math.prod(shape)) for b in bounds)),
            )
            if bounds
            else None
        )
        return ScipyConstraints(both, tuple(other for form in known for other in form.others))

    def _linear(self, shape: tuple[int, ...]) -> tuple[Bounds, LinearConstraint | None] | None:
        """Bounds of the flat point and further rows, where every member is of that kind."""
        from scipy.optimize import Bounds, LinearConstraint

        form = self.as_scipy(shape)
        if form is None or not all(isinstance(other, LinearConstraint) for other in form.others):
            return None
        bounds = form.bounds or Bounds(np.full(math.prod(shape), -np.inf), np.full(math.prod(shape), np.inf))
        if not form.others:
            return bounds, None
        rows = [
            np.atleast_2d(other.A.toarray() if hasattr(other.A, "toarray") else other.A)
            for other in form.others
        ]
        sides = [
            np.concatenate(
                [np.broadcast_to(getattr(o, side), len(r)) for o, r in zip(form.others, rows, strict=True)]
            )
            for side in ("lb", "ub")
        ]
        return bounds, LinearConstraint(np.vstack(rows), *sides)

    def _dykstra(self, v: Array) -> Array:
        x, corrections = v.copy(), [np.zeros(v.shape) for _ in self.sets]
        scale = max(1.0, float(np.abs(v).max(initial=0.0)))
        for _ in range(_SWEEPS):
            # Not the move of the whole sweep: it may be zero for many sweeps while the corrections still grow
            # (Birgin and Raydan 2005).
            moved = 0.0
            for i, each in enumerate(self.sets):
                before, wanted = x, x + corrections[i]
                x = np.asarray(each.project(wanted))
                corrections[i] = wanted - x
                moved = max(moved, float(np.abs(x - before).max(initial=0.0)))
            if moved <= _STILL * scale:
                break
        left = self.violation(x)
        if left > _ACCURATE * scale:
            warnings.warn(
                f"the projection onto the intersection of {self._names()} is off by {left:.2g} after "
                f"{_SWEEPS:_} sweeps of Dykstra's method: the sets meet at a small angle, or not at all",
                NotAccurate,
                stacklevel=3,
            )
        return x

    def _names(self) -> str:
        return " and ".join(f"{each.name!r}" for each in self.sets)
