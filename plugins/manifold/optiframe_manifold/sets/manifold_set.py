"""A constraint set that is a manifold, and the manifold of pymanopt that it is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe_manifold.sets.minimum_check import not_a_minimum

_ROUNDING = 1e-8  # relative: values of the objective that differ by less are the same


class ManifoldSet(ConstraintSet):
    """A set of arrays that is a smooth manifold, for `gradient.projected` and the solvers named `pymanopt.*`.

    A subclass gives `as_pymanopt`, `dimension`, `check_shape` and, where the nearest point is known,
    `project`; without `project` it gives `inside` and `violation`. None of these sets is convex: what a
    solver finds is a point where no small step helps, which need not be the best. `inside` is in general
    position, so that no symmetry of an objective makes it stationary. Checks of the manifold's operations
    are part of the contract of such a set. `ambient` says whether directions along it are arrays like its
    points, as `manifold.trust-region` needs them.
    """

    ambient: ClassVar[bool] = True

    convex = False
    contract = "optiframe_manifold.sets.contract:MANIFOLD_CHECKS"

    @abstractmethod
    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        """The manifold of pymanopt whose points are arrays of this shape.

        Raises
        ------
        MissingPackage
            When pymanopt is not installed, with the command that installs it.
        """

    @abstractmethod
    def dimension(self, shape: tuple[int, ...]) -> int:
        """How many directions there are along the set at points of this shape; 0 where they are isolated."""

    def inside(self, shape: tuple[int, ...]) -> Array:
        """The projection of a fixed random point."""
        return np.asarray(self.project(general_point(shape)))

    def near(self, x: Array, v: Array) -> Array:
        """A point of the set near x + v, for a point of it and a short v: by default the nearest."""
        return np.asarray(self.project(x + v))

    def diagnose(self, function: Objective, x: Any) -> tuple[Finding, ...]:
        found = not_a_minimum(function, x, self.near)
        return () if found is None else (found,)

    def recommended(self, problem: str) -> Sequence[tuple[str, str]]:
        if problem != "minimize":
            return ()
        why = f"the set {self.name!r} is a manifold and the objective has"
        return (
            ("pymanopt.trust-regions", f"{why} second derivatives"),
            ("pymanopt.conjugate-gradient", f"{why} a gradient"),
        )


class QuotientSet(ManifoldSet):
    """A manifold whose points stand for what they span or for their Gram matrix, not for themselves.

    Points that differ by an orthogonal matrix on the right are one point, so that an objective must have
    the same value at both; `diagnose` says where it has not. A subclass names the set that tells such points
    apart.
    """

    unrotated: ClassVar[str]

    def diagnose(self, function: Objective, x: Any) -> tuple[Finding, ...]:
        turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((x.shape[1], x.shape[1])))
        here, there = function.value(x), function.value(x @ turn)
        if not abs(here - there) > _ROUNDING * max(1.0, abs(here)):
            return super().diagnose(function, x)
        return (
            Finding(
                "warning",
                f"the objective is {number(here)} at the answer and {number(there)} once its columns are "
                f"rotated; the set {self.name!r} takes both for one point, so that the answer cannot be "
                "trusted; write an objective that rotations do not change, or take the set "
                f"{self.unrotated!r}",
                identifier="manifold.not-invariant",
            ),
        )


def manifolds() -> Any:
    """pymanopt's manifolds, imported on use; `MissingPackage` names the command that installs it."""
    return require("pymanopt", "pymanopt").manifolds


def typical_distance(manifold: Any) -> float:
    """Its own idea of a typical distance, else the root of its dimension (as in pymanopt)."""
    try:
        return float(manifold.typical_dist)
    except (AttributeError, NotImplementedError):
        return float(np.sqrt(manifold.dim))


def general_point(shape: tuple[int, ...]) -> Array:
    """Normal entries, the same at each call."""
    return np.random.default_rng(0).standard_normal(shape)


def check_matrix(over: ConstraintSet, shape: tuple[int, ...], *, tall: bool = False) -> None:
    """Raise `InvalidInput` unless `shape` is a matrix with entries; `tall`: with as many rows as columns."""
    if len(shape) != 2 or not all(shape):
        raise InvalidInput(f"the set {over.name!r} holds matrices, and a point has the shape {shape}")
    if tall and shape[0] < shape[1]:
        raise InvalidInput(
            f"the set {over.name!r} holds matrices with at least as many rows as columns, and a point has "
            f"the shape {shape}; transpose it"
        )


def check_square(over: ConstraintSet, shape: tuple[int, ...]) -> None:
    """Raise `InvalidInput` unless `shape` is a square matrix with entries."""
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise InvalidInput(f"the set {over.name!r} holds square matrices, and a point has the shape {shape}")
