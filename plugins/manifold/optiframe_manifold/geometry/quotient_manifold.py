"""The fixed-rank quotient manifold for pymanopt's own optimizers.

pymanopt 2.2 has no two-factor quotient manifold, and its `FixedRankEmbedded` does not work
with its trust region. This one is `geometry.FixedRank` under pymanopt's base class, which is
imported on use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from optiframe.errors import require
from optiframe.records.fields import Array
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, balanced, stacked
from optiframe_manifold.low_rank import LowRank


def quotient_manifold(rows: int, columns: int, rank: int) -> Any:
    """The manifold of rows x columns matrices of a fixed rank, as a `pymanopt.manifolds.manifold.Manifold`.

    A point is one array of shape (rows + columns, rank): the left factor above the right
    one. So is a tangent vector. The cost function given to pymanopt takes that one array.

    Raises
    ------
    MissingPackage
        When pymanopt is not installed.
    """
    return _manifold_class()(rows, columns, rank)


def _of_arrays(operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation of `FixedRank` at a point, for a point that is one array."""

    def at(manifold: Any, point: Array, *vectors: Array) -> Any:
        return operation(manifold.geometry, manifold.factors(point), *vectors)

    return at


@cache
def _manifold_class() -> Any:
    require("pymanopt", "pymanopt")
    from pymanopt.manifolds.manifold import Manifold

    class QuotientManifold(Manifold):  # type: ignore[misc]  # pymanopt has no types
        """Two factors up to a change of basis, with the metric of Dong et al., Eq. 12."""

        def __init__(self, rows: int, columns: int, rank: int) -> None:
            self.geometry = FixedRank(rows, columns, rank)
            self._known: list[tuple[Array, Factors]] = []
            super().__init__(f"{rows} x {columns} matrices of rank {rank}", self.geometry.dim)

        def factors(self, point: Array) -> Factors:
            """What the geometry needs at a point; that of the last two points asked about is kept."""
            for array, known in self._known:
                if array is point:
                    return known
            known = Factors(LowRank(*self.geometry.split(point)))
            self._known = [*self._known[-1:], (point, known)]
            return known

        def matrix(self, point: Array) -> LowRank:
            """The two factors that a point stacks."""
            return LowRank(*self.geometry.split(point))

        @property
        def typical_dist(self) -> float:
            return self.geometry.typical_dist

        inner_product = _of_arrays(FixedRank.inner_product)
        norm = _of_arrays(FixedRank.norm)
        zero_vector = _of_arrays(FixedRank.zero_vector)
        projection = to_tangent_space = _of_arrays(FixedRank.projection)
        euclidean_to_riemannian_gradient = _of_arrays(FixedRank.euclidean_to_riemannian_gradient)
        euclidean_to_riemannian_hessian = _of_arrays(FixedRank.euclidean_to_riemannian_hessian)
        preconditioner = _of_arrays(FixedRank.precondition)  # for `pymanopt.Problem`

        def retraction(self, point: Array, tangent_vector: Array) -> Array:
            return stacked(self.geometry.retraction(self.factors(point), tangent_vector).matrix)

        def transport(self, point_a: Array, point_b: Array, tangent_vector_a: Array) -> Array:
            return self.geometry.transport(self.factors(point_a), self.factors(point_b), tangent_vector_a)

        def random_point(self) -> Array:
            """Standard normal factors; as everywhere in pymanopt, from NumPy's global generator."""
            shape = (self.geometry.rows + self.geometry.columns, self.geometry.rank)
            return stacked(balanced(LowRank(*self.geometry.split(np.random.normal(size=shape)))))

        def random_tangent_vector(self, point: Array) -> Array:
            v = self.projection(point, np.random.normal(size=point.shape))
            return np.asarray(v / self.norm(point, v))

    return QuotientManifold
