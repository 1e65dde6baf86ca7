"""Sparse linear models: fits of all sizes, the choice of one, and when to trust it."""
