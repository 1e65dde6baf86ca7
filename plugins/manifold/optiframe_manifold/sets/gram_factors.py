"""pymanopt's manifolds of factors Y of a matrix Y Y', with a projection that holds where the rank drops.

In pymanopt 2.2.1 the projection of `Elliptope` doubles what it should take away (the sign of its Lyapunov
equation), and both manifolds solve that equation where it is singular, as it is at an answer of lower rank.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from optiframe.records.fields import Array
from optiframe_manifold.sets.manifold_set import manifolds

_SINGULAR = 1e-12  # relative: sums of eigenvalues so small belong to directions that move nothing


def elliptope(rows: int, rank: int) -> Any:
    """Factors with rows of length one, up to rotations."""
    return _classes()[0](rows, rank)


def psd_fixed_rank(rows: int, rank: int) -> Any:
    """Factors of any size, up to rotations."""
    return _classes()[1](rows, rank)


def horizontal(point: Array, vector: Array) -> Array:
    """What of a vector moves Y Y': without its part Y Omega, where Omega is skew."""
    sizes, basis = np.linalg.eigh(point.T @ point)
    product = point.T @ vector
    right = basis.T @ (product - product.T) @ basis
    sums = sizes[:, np.newaxis] + sizes
    moved = sums > _SINGULAR * max(float(sizes[-1]), np.finfo(np.float64).tiny)
    turn = np.where(moved, right / np.where(moved, sums, 1.0), 0.0)
    return np.asarray(vector - point @ (basis @ turn @ basis.T))


@cache
def _classes() -> tuple[Any, Any]:
    known = manifolds()

    class Elliptope(known.Elliptope):  # type: ignore[misc,name-defined]  # pymanopt has no types
        def projection(self, point: Array, vector: Array) -> Array:
            return horizontal(point, self._project_rows(point, vector))

        to_tangent_space = projection

    class PSDFixedRank(known.PSDFixedRank):  # type: ignore[misc,name-defined]
        def projection(self, point: Array, vector: Array) -> Array:
            return horizontal(point, vector)

        to_tangent_space = projection

    return Elliptope, PSDFixedRank
