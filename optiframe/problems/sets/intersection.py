"""Several constraint sets at once."""

from __future__ import annotations

import math
import warnings
from functools import reduce
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from optiframe.errors import InvalidInput, Unsuited
from optiframe.numbers import number
from optiframe.problems.points import named, table
from optiframe.problems.sets.constraint_set import ConstraintSet, LinearForm, ScipyConstraints, stacked
from optiframe.problems.sets.linear_sets import is_feasible, onto_bounded_row, onto_polyhedron
from optiframe.records.fields import Accepts, Array

_SWEEPS = 10_000
_STILL = 1e-12  # relative move of the point by any member in a sweep at which Dykstra's method ends
_MOST = 4_000_000  # entries of a dense matrix of rows and bounds; beyond it takes minutes
_FAR = 1e9  # relative to the point: sets without a common point nearer than this have none
_ACCURATE = 1e-8  # relative violation beyond which its answer is not believed

_one = named("constraint set")


def as_members(value: Any) -> Any:
    """Each of a list of sets from its name, its table or itself."""
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
        With fewer than one set, when the sets hold different kinds of points, and when no point lies in all
        of them: at once for linear sets, and for others when a point is projected.
    """

    name = "intersection"
    reference = "Boyle and Dykstra 1986; Bauschke and Borwein 1994"

    sets: Annotated[
        tuple[ConstraintSet, ...],
        BeforeValidator(as_members),
        PlainSerializer(lambda sets: [table(each) for each in sets]),
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
        form = self.as_linear(shape)
        if form is None:
            return
        if (form.lower > form.upper).any():
            at = int(np.argmax(form.lower > form.upper))
            raise InvalidInput(
                f"no point lies in all of {self._names()}: entry {at + 1} would have to be at least "
                f"{form.lower[at]:g} and at most {form.upper[at]:g}"
            )
        bounds = form.lower, form.upper
        if form.rows.shape[0] and not is_feasible(form.rows, form.least, form.most, bounds):
            raise InvalidInput(f"no point lies in all of {self._names()}")

    def project(self, v: Array) -> Array:
        if not self.offers(ConstraintSet.project):  # Dykstra's method holds for convex sets only
            raise Unsuited(self.lacks(ConstraintSet.project) or "")
        if len(self.sets) == 1:
            return np.asarray(self.sets[0].project(v))
        v = np.asarray(v, dtype=np.float64)
        form = self.as_linear(v.shape)
        if form is None:
            return self._dykstra(v)
        flat, bounds, count = v.reshape(-1), (form.lower, form.upper), form.rows.shape[0]
        if not count:
            return np.asarray(np.clip(flat, *bounds)).reshape(v.shape)
        bounded = np.isfinite(form.lower) | np.isfinite(form.upper)
        if count > 1 and v.size * (count + int(bounded.sum())) > _MOST:
            return self._dykstra(v)
        rows = form.rows.toarray() if sp.issparse(form.rows) else form.rows
        if count == 1 and (size := float(np.linalg.norm(rows))) > 0:
            sides = float(form.least[0] / size), float(form.most[0] / size)
            return onto_bounded_row(flat, rows[0] / size, sides, bounds).reshape(v.shape)
        matrix = np.vstack([rows, np.eye(v.size)[bounded]])
        lower = np.concatenate([form.least, form.lower[bounded]])
        upper = np.concatenate([form.most, form.upper[bounded]])
        found = onto_polyhedron(flat, matrix, lower, upper)
        return np.asarray(np.clip(found, *bounds)).reshape(v.shape)

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

    def as_linear(self, shape: tuple[int, ...]) -> LinearForm | None:
        forms = [each.as_linear(shape) for each in self.sets]
        known = [form for form in forms if form is not None]
        if len(known) < len(forms):
            return None
        return LinearForm(
            reduce(np.maximum, (form.lower for form in known)),
            reduce(np.minimum, (form.upper for form in known)),
            stacked([form.rows for form in known if form.rows.shape[0]], math.prod(shape)),
            np.concatenate([form.least for form in known]),
            np.concatenate([form.most for form in known]),
            reduce(np.logical_or, (form.whole for form in known)),
        )

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
            self._refuse_if_empty(x)
            warnings.warn(
                f"the projection onto the intersection of {self._names()} is inaccurate (off by "
                f"{number(left)} after {number(_SWEEPS)} sweeps of Dykstra's method): the sets meet at a "
                "small angle, or not at all; check that they have a point in common",
                NotAccurate,
                stacklevel=3,
            )
        return x

    def _refuse_if_empty(self, x: Array) -> None:
        """Raise `InvalidInput` where no point near `x`, in a wide sense, lies in all members.

        With projections p_i of x, every z in a convex member has <x - p_i, z - p_i> <= 0. Summed up, a common
        point z is at least sum |x - p_i|^2 / |sum (x - p_i)| away from x. Averaged projections make the
        denominator vanish (Bauschke and Borwein 1994).
        """
        scale = max(1.0, float(np.abs(x).max(initial=0.0)))
        for _ in range(_SWEEPS):
            apart = np.stack([x - each.project(x) for each in self.sets])
            together = np.asarray(apart.mean(axis=0))
            size = float(np.linalg.norm(together)) * len(self.sets)
            if float((apart**2).sum()) > _FAR * scale * size:
                raise InvalidInput(f"no point lies in all of {self._names()}")
            x = x - together

    def _names(self) -> str:
        return " and ".join(f"{each.name!r}" for each in self.sets)
