"""Passes over labels and pairs of workers, compiled where numba is at hand."""
