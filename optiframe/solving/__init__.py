"""Solvers, the runner that owns their loop, and the results it gives back."""
