"""The Riemannian trust region: its loop, its solver, and where a search begins."""
