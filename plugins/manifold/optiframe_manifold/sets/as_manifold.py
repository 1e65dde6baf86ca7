"""The manifold of pymanopt that a set is, whoever brings the set."""

from __future__ import annotations

from typing import Any

from optiframe.problems.sets.constraint_set import ConstraintSet, WholeSpace
from optiframe_manifold.sets.manifold_set import ManifoldSet, manifolds


def no_manifold(over: ConstraintSet) -> str | None:
    """Why a set is none of pymanopt's manifolds, in words; None where it is. Imports nothing."""
    if isinstance(over, ManifoldSet | WholeSpace):
        return None
    if over.name == "rank":
        return "the points of the set 'rank' are factors; take manifold.pymanopt or manifold.trust-region"
    return f"the set {over.name!r} is no manifold of pymanopt's"


def as_manifold(over: ConstraintSet, shape: tuple[int, ...]) -> Any:
    """The manifold of a set for which `no_manifold` gives no reason; its points are arrays of this shape."""
    if isinstance(over, ManifoldSet):
        return over.as_pymanopt(shape)
    return manifolds().Euclidean(*shape)
