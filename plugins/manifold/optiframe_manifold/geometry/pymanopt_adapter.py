"""Manifolds that pymanopt brings, checked for what the trust region needs of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.errors import InvalidInput

NEEDED = (
    "inner_product",
    "norm",
    "zero_vector",
    "to_tangent_space",
    "retraction",
    "euclidean_to_riemannian_gradient",
    "euclidean_to_riemannian_hessian",
)


def as_manifold(value: Any) -> Any:
    """`value`, when it offers every operation that the trust region needs.

    Raises
    ------
    InvalidInput
        Naming the operations it lacks, or when its points are not single arrays.
    """
    if value is None:
        return None
    lacking = [name for name in NEEDED if not _offers(value, name)]
    if lacking:
        raise InvalidInput(
            f"{type(value).__name__} has no {', '.join(lacking)}; the trust region needs a manifold with "
            "these operations, under the names pymanopt gives them"
        )
    if getattr(value, "point_layout", 1) != 1:
        raise InvalidInput(
            f"points of {value} are several arrays; the trust region takes manifolds whose points are one "
            "array (for matrices as two factors use the set 'rank', without a manifold)"
        )
    if _offers(value, "embedding"):
        raise InvalidInput(
            f"directions along {value} are not arrays like its points; take pymanopt.trust-regions"
        )
    return value


def _offers(value: Any, name: str) -> bool:
    """Whether the operation is there and is more than pymanopt's refusal, whose name wraps the base's."""
    own = getattr(type(value), name, None)
    if own is None or not callable(own):
        return False
    for base in type(value).__mro__:
        if base.__module__ == "pymanopt.manifolds.manifold" and base.__name__ == "Manifold":
            return own is not base.__dict__.get(name)
    return True


def random_point(manifold: Any, rng: np.random.Generator) -> Any:
    """A random point, decided by `rng` alone.

    pymanopt draws from NumPy's global generator; it is seeded for the call and then put back.
    """
    before = np.random.get_state()
    try:
        np.random.seed(int(rng.integers(2**32)))
        return manifold.random_point()
    finally:
        np.random.set_state(before)
