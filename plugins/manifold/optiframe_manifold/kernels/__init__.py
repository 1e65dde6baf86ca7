"""Passes over comparisons and blocks of rows: compiled where numba is installed, and their plain twins."""
