"""Passes over comparisons and blocks of rows, compiled where numba is at hand."""
