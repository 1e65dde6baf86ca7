"""A product of pymanopt's manifolds whose points are single vectors, block after block.

pymanopt's own `Product` has lists of arrays for points; here they are what the objective takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from optiframe.errors import require
from optiframe.records.fields import Array
from optiframe_manifold.sets.manifold_set import typical_distance


def blocks(members: Sequence[Any], shapes: Sequence[tuple[int, ...]], places: Sequence[slice]) -> Any:
    """The manifold of vectors whose blocks at `places`, in these shapes, lie on these manifolds."""
    return _class()(members, shapes, places)


def _each(operation: str) -> Callable[..., Any]:
    """An operation of the blocks, whose answers are one vector again."""

    def of_all(manifold: Any, *vectors: Array) -> Array:
        found = [getattr(member, operation)(*parts) for member, *parts in manifold.parts(*vectors)]
        return np.concatenate([np.ravel(each) for each in found])

    return of_all


@cache
def _class() -> Any:
    require("pymanopt", "pymanopt")
    from pymanopt.manifolds.manifold import Manifold

    class Blocks(Manifold):  # type: ignore[misc]  # pymanopt has no types
        """Vectors of blocks, with the sum of the blocks' metrics."""

        def __init__(
            self, members: Sequence[Any], shapes: Sequence[tuple[int, ...]], places: Sequence[slice]
        ) -> None:
            self._members, self._blocks = members, tuple(zip(places, shapes, strict=True))
            super().__init__(" x ".join(map(str, members)), sum(int(each.dim) for each in members))

        def parts(self, *vectors: Array) -> list[tuple[Any, ...]]:
            """Each manifold with the blocks of some vectors that are its own."""
            return [
                (member, *(vector[place].reshape(shape) for vector in vectors))
                for member, (place, shape) in zip(self._members, self._blocks, strict=True)
            ]

        @property
        def typical_dist(self) -> float:
            return math.hypot(*(typical_distance(member) for member in self._members))

        def inner_product(self, point: Array, tangent_vector_a: Array, tangent_vector_b: Array) -> float:
            several = self.parts(point, tangent_vector_a, tangent_vector_b)
            return float(sum(float(member.inner_product(*parts)) for member, *parts in several))

        def norm(self, point: Array, tangent_vector: Array) -> float:
            return math.hypot(
                *(float(member.norm(*parts)) for member, *parts in self.parts(point, tangent_vector))
            )

        projection = _each("projection")
        to_tangent_space = _each("to_tangent_space")
        euclidean_to_riemannian_gradient = _each("euclidean_to_riemannian_gradient")
        euclidean_to_riemannian_hessian = _each("euclidean_to_riemannian_hessian")
        embedding = _each("embedding")
        retraction = _each("retraction")
        transport = _each("transport")
        random_point = _each("random_point")
        random_tangent_vector = _each("random_tangent_vector")
        zero_vector = _each("zero_vector")

    return Blocks
