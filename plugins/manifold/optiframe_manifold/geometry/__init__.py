"""Manifolds: matrices of one rank, positive rank-one matrices, pymanopt's."""
