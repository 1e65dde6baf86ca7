"""The compiled projection, step by step; needs numba."""
