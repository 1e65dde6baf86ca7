"""The fixed-rank quotient manifold for pymanopt's own optimizers.

pymanopt 2.2 has no two-factor quotient manifold, and its `FixedRankEmbedded` does not work
with its trust region. This one is `geometry.FixedRank` under pymanopt's base class, which is
imported on use.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from optiframe.errors import require
from optiframe.records.fields import Array
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, balanced, stacked
from optiframe_manifold.low_rank import LowRank


def quotient_manifold(rows: int, columns: int, rank: int) -> Any:
    """The manifold of rows x columns matrices of one rank, as a `pymanopt.manifolds.manifold.Manifold`.

    A point is one array of shape (rows + columns, rank): the left factor above the right
    one. So is a tangent vector. The cost function given to pymanopt takes that one array.

    Raises
    ------
    MissingPackage
        When pymanopt is not installed.
    """
    return _manifold_class()(rows, columns, rank)


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

        @property
        def typical_dist(self) -> float:
            return self.geometry.typical_dist

        def inner_product(self, point: Array, tangent_vector_a: Array, tangent_vector_b: Array) -> float:
            return self.geometry.inner_product(self.factors(point), tangent_vector_a, tangent_vector_b)

        def norm(self, point: Array, tangent_vector: Array) -> float:
            return self.geometry.norm(self.factors(point), tangent_vector)

        def zero_vector(self, point: Array) -> Array:
            return np.zeros_like(point)

        def projection(self, point: Array, vector: Array) -> Array:
            return self.geometry.projection(self.factors(point), vector)

        to_tangent_space = projection

        def euclidean_to_riemannian_gradient(self, point: Array, euclidean_gradient: Array) -> Array:
            return self.geometry.euclidean_to_riemannian_gradient(self.factors(point), euclidean_gradient)

        def euclidean_to_riemannian_hessian(
            self, point: Array, euclidean_gradient: Array, euclidean_hessian: Array, tangent_vector: Array
        ) -> Array:
            return self.geometry.euclidean_to_riemannian_hessian(
                self.factors(point), euclidean_gradient, euclidean_hessian, tangent_vector
            )

        def retraction(self, point: Array, tangent_vector: Array) -> Array:
            return stacked(self.geometry.retraction(self.factors(point), tangent_vector).matrix)

        def transport(self, point_a: Array, point_b: Array, tangent_vector_a: Array) -> Array:
            return self.geometry.transport(self.factors(point_a), self.factors(point_b), tangent_vector_a)

        def preconditioner(self, point: Array, tangent_vector: Array) -> Array:
            """The Gram preconditioner, for `pymanopt.Problem`."""
            return self.geometry.precondition(self.factors(point), tangent_vector)

        def random_point(self) -> Array:
            """Standard normal factors; as everywhere in pymanopt, from NumPy's global generator."""
            shape = (self.geometry.rows + self.geometry.columns, self.geometry.rank)
            return stacked(balanced(LowRank(*self.geometry.split(np.random.normal(size=shape)))))

        def random_tangent_vector(self, point: Array) -> Array:
            v = self.projection(point, np.random.normal(size=point.shape))
            return np.asarray(v / self.norm(point, v))

    return QuotientManifold
