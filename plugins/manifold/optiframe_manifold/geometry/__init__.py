"""Manifolds of matrices, ours and pymanopt's under the same names, and objectives in their terms."""
