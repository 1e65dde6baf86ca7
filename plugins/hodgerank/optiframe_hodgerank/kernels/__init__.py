"""Passes over arrays, compiled where numba is at hand."""
