"""The contract of a constraint set, as plain functions: each looks at one thing that it must keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.testing.cases import NotApplicable
from optiframe.testing.parts.subject import Subject

_TRIES = 100  # random moves in the search for a nearer point
_JUST_OUTSIDE = 0.1  # of the way from a projection back to its point
_CVXPY = 1e-4  # relative: what CVXPY's engines reach on small problems
_NEARER = 1e-6  # relative: a point so much nearer is not rounding


def _needs(subject: Subject, operation: Any) -> ConstraintSet:
    over: ConstraintSet = subject.part
    if not over.offers(operation):
        raise NotApplicable(over.lacks(operation) or "")
    return over


def _scale(*points: Array) -> float:
    return max(1.0, *(float(np.max(np.abs(point), initial=0.0)) for point in points))


def check_a_start_lies_inside(subject: Subject) -> None:
    """`inside` gives a finite point of the set, of the shape asked for."""
    next(subject.points())  # arrays only
    start = np.asarray(subject.part.inside(subject.point_shape))
    if start.shape != subject.point_shape:
        subject.fail(f"inside gives the shape {start.shape}, and {subject.point_shape} was asked for")
    if not subject.part.violation(start) <= subject.tolerance * _scale(start):
        subject.fail(f"inside gives a point whose violation is {subject.part.violation(start):.3g}")


def check_a_projection_lies_in_the_set(subject: Subject) -> None:
    """A projected point has the shape of the first, is finite and violates nothing; the argument stays."""
    over = _needs(subject, ConstraintSet.project)
    for point in subject.points():
        before = point.copy()
        found = np.asarray(over.project(point))
        subject.unchanged("project", point, before)
        if found.shape != point.shape or not np.isfinite(found).all():
            subject.fail(f"project gives {found!r:.60} for a point of shape {point.shape}")
        outside = over.violation(found)
        if not 0 <= outside <= subject.tolerance * _scale(point):
            subject.fail(f"a projected point has the violation {outside:.3g}")


def check_projecting_twice_changes_nothing(subject: Subject) -> None:
    """A point of the set is its own projection."""
    over = _needs(subject, ConstraintSet.project)
    for point in subject.points():
        once = np.asarray(over.project(point))
        twice = np.asarray(over.project(once))
        if subject.differs(once, twice, _scale(point)):
            subject.fail(f"projecting a projection moves it by {np.max(np.abs(once - twice)):.3g}")


def check_no_point_of_the_set_is_nearer_than_the_projection(subject: Subject) -> None:
    """The projection is the nearest point: against CVXPY, and against points of the set found by search.

    A map may lead into the set, leave its points alone and still be no projection: scaling a point until it
    lies in a ball of the sum of absolute values is one. So nearer points are looked for.
    """
    over = _needs(subject, ConstraintSet.project)
    for point in subject.points():
        found = np.asarray(over.project(point))
        reached = float(np.linalg.norm(found - point))
        room = _NEARER * _scale(point)
        nearer = _nearer(over, point, found, np.random.default_rng(subject.seed))
        if nearer < reached - room:
            subject.fail(
                f"project is not the nearest point: it is {reached:.6g} away, and a point of the set is "
                f"{nearer:.6g} away"
            )
        exact = _by_cvxpy(over, point)
        if exact is not None and abs(exact - reached) > _CVXPY * max(1.0, exact):
            which = "farther" if reached > exact else "nearer"
            subject.fail(
                f"project is {reached:.6g} away, {which} than the nearest point by CVXPY, {exact:.6g}: "
                "project or as_cvxpy is wrong"
            )


def _nearer(over: ConstraintSet, point: Array, found: Array, rng: np.random.Generator) -> float:
    """The least distance to points of the set that a random search from the projection meets."""
    best, least = found, float(np.linalg.norm(found - point))
    step = max(least, 1e-3)
    for attempt in range(_TRIES):
        move = np.zeros(point.shape) if attempt % 2 else rng.standard_normal(point.shape)
        if attempt % 2:  # one entry, towards the point
            at = np.unravel_index(int(rng.integers(max(1, point.size))), point.shape) if point.size else ()
            move[at] = point[at] - best[at]
        size = float(np.linalg.norm(move))
        member = np.asarray(over.project(best + (step / size if size > 0 else 0.0) * move))
        distance = float(np.linalg.norm(member - point))
        if distance < least and over.violation(member) <= 1e-9 * _scale(point):
            best, least = member, distance
        elif attempt % 10 == 9:
            step /= 1.5
    return least


def _by_cvxpy(over: ConstraintSet, point: Array) -> float | None:
    """The distance of CVXPY's nearest point; None where there is no program, or no CVXPY here."""
    try:
        import cvxpy
    except ImportError:
        return None
    if over.as_cvxpy(cvxpy.Variable(point.shape)) is None:
        return None
    written = over.projection_as_cvxpy(point)
    if written is None:
        return None
    value = written.program.solve(solver="CLARABEL") if not written.program.is_mixed_integer() else None
    if value is None or not np.isfinite(value):
        return None
    return float(np.sqrt(2 * max(0.0, written.objective(float(value)))))


def check_violation_tells_inside_from_outside(subject: Subject) -> None:
    """The violation is zero in the set, above zero outside, and infinite where a point is not finite.

    A point without a violation is its own projection: one that leads into a part of the set only is found
    where the violation does not go by it.
    """
    over: ConstraintSet = subject.part
    for point in _tried(subject):
        before = point.copy()
        outside = over.violation(point)
        subject.unchanged("violation", point, before)
        if not outside >= 0:
            subject.fail(f"the violation of a point is {outside}; it is a distance, at least 0")
        if over.offers(ConstraintSet.project):
            moved = float(np.linalg.norm(np.asarray(over.project(point)) - point))
            if outside <= 1e-12 * _scale(point) and moved > 1e-6 * _scale(point):
                subject.fail(
                    f"the violation of a point is {outside:.3g}, and its projection is {moved:.3g} away"
                )
        if point.size:
            broken = point.copy()
            broken.flat[0] = np.nan
            if over.violation(broken) <= 1e300:
                subject.fail("the violation of a point with nan is finite; give inf")


def _tried(subject: Subject) -> Iterator[Array]:
    """Random points, and the start turned over and about, which often lies in the set too."""
    yield from subject.points()
    start = np.array(subject.part.inside(subject.point_shape), dtype=np.float64)
    yield from (start, -start, np.flip(start).copy())


def check_a_convex_set_holds_the_middle_of_its_points(subject: Subject) -> None:
    """Where the set says that it is convex, the middle of two points of it lies in it."""
    over = _needs(subject, ConstraintSet.project)
    if not over.convex:
        raise NotApplicable("it is declared not convex (`convex = False`)")
    members = [np.asarray(over.project(point)) for point in subject.points()]
    for one in members:
        for other in members:
            middle = (one + other) / 2
            if over.violation(middle) > 1e-6 * _scale(one, other):
                subject.fail(
                    f"it says that it is convex, and the middle of two of its points has the violation "
                    f"{over.violation(middle):.3g}; set convex = False"
                )


def check_a_separable_set_projects_each_entry_for_itself(subject: Subject) -> None:
    """Where the set says that it is separable, an entry's projection does not depend on the others."""
    over = _needs(subject, ConstraintSet.project)
    if not over.separable:
        raise NotApplicable("it is not declared separable (`separable = True`)")
    for point in subject.points():
        other = point.copy()
        if other.size < 2:
            raise NotApplicable("a point has one entry only")
        other.flat[0] += 3.0
        moved = np.asarray(over.project(other)) - np.asarray(over.project(point))
        if subject.differs(moved.flat[1:], 0.0, _scale(point)):
            subject.fail(
                "it says that it is separable, and changing one entry changes the projection of others"
            )


def check_the_farthest_point_is_a_member_and_farthest(subject: Subject) -> None:
    """`farthest` gives a point of the set, and none of those met lies farther along the direction."""
    over = _needs(subject, ConstraintSet.farthest)
    members = [np.asarray(over.inside(subject.point_shape))]
    if over.offers(ConstraintSet.project):
        members += [np.asarray(over.project(point)) for point in subject.points()]
    for direction in subject.points():
        before = direction.copy()
        found = np.asarray(over.farthest(direction))
        subject.unchanged("farthest", direction, before)
        if over.violation(found) > subject.tolerance * _scale(found):
            subject.fail(f"farthest gives a point whose violation is {over.violation(found):.3g}")
        reach = float(np.vdot(direction, found))
        beyond = max(float(np.vdot(direction, member)) for member in members)
        if beyond > reach + 1e-7 * max(1.0, abs(reach)):
            subject.fail(
                f"farthest reaches {reach:.6g} along a direction, and a point of the set {beyond:.6g}"
            )


def check_other_forms_describe_the_same_set(subject: Subject) -> None:
    """Points of the set meet `as_scipy` and `as_cvxpy`; points just outside do not."""
    over: ConstraintSet = subject.part
    if not over.offers(ConstraintSet.project):
        raise NotApplicable("it has no projection, which would give points of it")
    made = 0
    for point in subject.points():
        inner = np.asarray(over.project(point))
        outer = inner + _JUST_OUTSIDE * (point - inner)
        beyond = over.violation(outer)
        for form, excess in (("as_scipy", _scipy_excess), ("as_cvxpy", _cvxpy_excess)):
            inside = excess(over, inner)
            if inside is None:
                continue
            made += 1
            if inside > 1e-6 * max(1.0, _scale(point) ** 2):
                subject.fail(f"a point of the set is {inside:.3g} outside {form}")
            if beyond > 1e-3 * _scale(point) and not (excess(over, outer) or 0.0) > 0:
                subject.fail(f"a point outside the set (violation {beyond:.3g}) is inside {form}")
    if not made:
        raise NotApplicable("the set gives no constraints for SciPy or CVXPY to compare with")


def _scipy_excess(over: ConstraintSet, x: Array) -> float | None:
    told = over.as_scipy(x.shape)
    if told is None:
        return None
    flat = x.reshape(-1)
    worst = 0.0
    if told.bounds is not None:
        worst = float(np.max(np.maximum(told.bounds.lb - flat, flat - told.bounds.ub), initial=0.0))
    for each in told.others:
        values = np.atleast_1d(each.A @ flat if hasattr(each, "A") else each.fun(flat))
        worst = max(worst, float(np.max(np.maximum(each.lb - values, values - each.ub), initial=0.0)))
    return worst


def _cvxpy_excess(over: ConstraintSet, x: Array) -> float | None:
    try:
        import cvxpy
    except ImportError:
        return None
    variable = cvxpy.Variable(x.shape)
    constraints = over.as_cvxpy(variable)
    if constraints is None:
        return None
    variable.value = x
    with np.errstate(invalid="ignore", divide="ignore"):  # CVXPY divides by norms that are zero
        return max((float(np.max(each.violation(), initial=0.0)) for each in constraints), default=0.0)


SET_CHECKS = (
    check_a_start_lies_inside,
    check_a_projection_lies_in_the_set,
    check_projecting_twice_changes_nothing,
    check_no_point_of_the_set_is_nearer_than_the_projection,
    check_violation_tells_inside_from_outside,
    check_a_convex_set_holds_the_middle_of_its_points,
    check_a_separable_set_projects_each_entry_for_itself,
    check_the_farthest_point_is_a_member_and_farthest,
    check_other_forms_describe_the_same_set,
)
