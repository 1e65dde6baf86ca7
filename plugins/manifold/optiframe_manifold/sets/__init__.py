"""Manifolds as constraint sets by name: spheres, orthonormal columns, definite matrices."""
