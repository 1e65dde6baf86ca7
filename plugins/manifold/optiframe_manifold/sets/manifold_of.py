"""The manifold of pymanopt that a set is, whoever brings the set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput, absent
from optiframe.numbers import number
from optiframe.problems.sets.constraint_set import ConstraintSet, WholeSpace
from optiframe.problems.sets.product import Product
from optiframe.records.fields import Array
from optiframe_manifold.sets.blocks import blocks
from optiframe_manifold.sets.manifold_set import ManifoldSet, manifolds

_INSIDE = 1e-8  # a start so near to the set is in it but for rounding


def no_manifold(over: ConstraintSet, shape: tuple[int, ...]) -> str | None:
    """Why a set is none of pymanopt's manifolds that can be searched here, in words; None where it is.

    Imports nothing.
    """
    if over.name == "rank":
        return "the points of the set 'rank' are factors; take manifold.pymanopt or manifold.trust-region"
    for each in _members(over):
        if not isinstance(each, ManifoldSet | WholeSpace):
            return f"the set {each.name!r} is no manifold of pymanopt's"
    missing = absent(("pymanopt",), "optiframework-manifold")
    if missing:
        return missing
    if not _dimension(over, shape):
        return f"the points of the set {over.name!r} are isolated at this size: no path joins them"
    return None


def is_ambient(over: ConstraintSet) -> bool:
    """Whether directions along the set are arrays like its points, in every block."""
    return all(each.ambient for each in _members(over) if isinstance(each, ManifoldSet))


def manifold_of(over: ConstraintSet, shape: tuple[int, ...]) -> Any:
    """The manifold of a set for which `no_manifold` gives no reason; its points are arrays of this shape."""
    if isinstance(over, Product):
        members = [manifold_of(each, block) for each, block in zip(over.sets, over.shapes, strict=True)]
        return blocks(members, over.shapes, over.places())
    if isinstance(over, ManifoldSet):
        return over.as_pymanopt(shape)
    return manifolds().Euclidean(*shape)


def member(over: ConstraintSet, start: Array) -> Array:
    """The start, or its projection where it is outside the set.

    Raises
    ------
    InvalidInput
        Where it is outside of a set without projection.
    """
    outside = over.violation(start)
    if outside <= _INSIDE:
        return start
    if over.offers(ConstraintSet.project):
        return np.asarray(over.project(start))
    raise InvalidInput(
        f"start is {number(outside)} outside the set {over.name!r}, which has no projection; give a point of "
        "the set"
    )


def _members(over: ConstraintSet) -> list[ConstraintSet]:
    """The sets of the blocks; of any other set, itself."""
    return [part for each in over.sets for part in _members(each)] if isinstance(over, Product) else [over]


def _dimension(over: ConstraintSet, shape: tuple[int, ...]) -> int:
    if isinstance(over, Product):
        return sum(_dimension(each, block) for each, block in zip(over.sets, over.shapes, strict=True))
    return over.dimension(shape) if isinstance(over, ManifoldSet) else math.prod(shape) * bool(shape)
