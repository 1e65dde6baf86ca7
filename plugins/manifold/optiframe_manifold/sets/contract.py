"""The contract of manifolds, as plain functions: what optimizers rely on, one operation each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from optiframe.errors import absent
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.testing import NotApplicable, Subject

_TRIES = 3  # directions
_STEP = 1e-5  # of differences; their error is some 1e-10
_EXACT = 1e-9  # relative: algebra alone
_SLOPE = 1e-6  # relative: differences


def _tangents(subject: Subject) -> Iterator[tuple[Any, Array, Any, np.random.Generator]]:
    """The manifold, a point, a direction along it, and a generator for more."""
    missing = absent(("pymanopt",), "optiframework-manifold")
    if missing:
        raise NotApplicable(missing)
    rng = np.random.default_rng(subject.seed)
    if not subject.part.dimension(subject.point_shape):
        raise NotApplicable("its points are isolated at this size")
    manifold = subject.part.as_pymanopt(subject.point_shape)
    point = np.asarray(subject.part.inside(subject.point_shape))
    for _ in range(_TRIES):
        direction = manifold.projection(point, rng.standard_normal(point.shape))
        yield manifold, point, direction, rng
        point = manifold.retraction(point, direction)


def _size(*arrays: Any) -> float:
    return max(1.0, *(float(np.max(np.abs(each), initial=0.0)) for each in arrays))


def check_a_retraction_stays_in_the_set(subject: Subject) -> None:
    """A step along a direction, short or long, ends at a point without violation."""
    for manifold, point, direction, _ in _tangents(subject):
        for length in (1e-3, 1.0, 10.0):
            ahead = np.asarray(manifold.retraction(point, length * direction))
            outside = subject.part.violation(ahead)
            if not outside <= _EXACT * _size(ahead):
                subject.fail(f"a retraction leads {number(outside)} outside the set")


def check_a_retraction_follows_its_direction(subject: Subject) -> None:
    """A short step goes where the direction points: their difference is of second order."""
    for manifold, point, direction, _ in _tangents(subject):
        ahead, behind = (manifold.retraction(point, sign * _STEP * direction) for sign in (1.0, -1.0))
        moved = (np.asarray(ahead) - behind) / (2 * _STEP)
        ambient = np.asarray(manifold.embedding(point, direction))
        off = float(np.max(np.abs(moved - ambient)))
        if not off <= _SLOPE * _size(ambient):
            subject.fail(f"a short step of the retraction differs from its direction by {number(off)}")


def check_projecting_a_direction_twice_changes_nothing(subject: Subject) -> None:
    """A direction along the manifold is its own projection."""
    for manifold, point, direction, _ in _tangents(subject):
        again = manifold.projection(point, np.asarray(manifold.embedding(point, direction)))
        off = float(np.max(np.abs(np.asarray(again) - direction)))
        if not off <= _EXACT * _size(direction):
            subject.fail(f"projecting a projected direction moves it by {number(off)}")


def check_the_gradient_is_the_slope_along_the_retraction(subject: Subject) -> None:
    """The Riemannian gradient, in the manifold's metric, tells how a function rises along a direction."""
    for manifold, point, direction, rng in _tangents(subject):
        cost = rng.standard_normal(point.shape)
        gradient = manifold.euclidean_to_riemannian_gradient(point, cost + point)
        told = float(manifold.inner_product(point, gradient, direction))
        ahead, behind = (
            np.asarray(manifold.retraction(point, sign * _STEP * direction)) for sign in (1.0, -1.0)
        )
        # Of <cost, x> + |x|^2 / 2.
        rise = float(np.vdot(cost, ahead - behind) + np.vdot(ahead + behind, ahead - behind) / 2)
        slope = rise / (2 * _STEP)
        if not abs(told - slope) <= _SLOPE * _size(slope, direction):
            subject.fail(
                f"the Riemannian gradient says that a function rises by {number(told)} along a direction, "
                f"and it rises by {number(slope)}"
            )


def check_the_hessian_is_symmetric(subject: Subject) -> None:
    """Where the manifold has a Hessian, <H v, w> = <v, H w> in its metric."""
    for manifold, point, one, rng in _tangents(subject):
        other = manifold.projection(point, rng.standard_normal(point.shape))
        try:
            told = [_bend(manifold, point, each) for each in (one, other)]
        except NotImplementedError:
            raise NotApplicable("the manifold has no second derivatives") from None
        sides = (
            float(manifold.inner_product(point, told[0], other)),
            float(manifold.inner_product(point, one, told[1])),
        )
        if not abs(sides[0] - sides[1]) <= _EXACT * _size(*told) * _size(one) * point.size:
            subject.fail(f"<H v, w> is {number(sides[0])}, and <v, H w> is {number(sides[1])}")


def _bend(manifold: Any, point: Array, direction: Any) -> Any:
    """The Riemannian Hessian of |x x' - W|^2 / 4, which rotations do not change, along a direction."""
    x = point if point.ndim == 2 else point.reshape(-1, 1)
    move = np.asarray(manifold.embedding(point, direction)).reshape(x.shape)
    away = x @ x.T - np.diag(np.arange(1.0, len(x) + 1))
    slope, bend = away @ x, (move @ x.T + x @ move.T) @ x + away @ move
    shape = point.shape
    return manifold.euclidean_to_riemannian_hessian(
        point, slope.reshape(shape), bend.reshape(shape), direction
    )


def check_the_dimension_is_the_manifolds(subject: Subject) -> None:
    """`dimension` says how many directions there are."""
    for manifold, _, _, _ in _tangents(subject):
        told = subject.part.dimension(subject.point_shape)
        if told != manifold.dim:
            subject.fail(f"dimension is {told}, and the manifold has {manifold.dim}")


MANIFOLD_CHECKS = (
    check_the_dimension_is_the_manifolds,
    check_a_retraction_stays_in_the_set,
    check_a_retraction_follows_its_direction,
    check_projecting_a_direction_twice_changes_nothing,
    check_the_gradient_is_the_slope_along_the_retraction,
    check_the_hessian_is_symmetric,
)
