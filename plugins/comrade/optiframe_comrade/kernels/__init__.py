"""Compiled passes over a block of rows; needs numba."""
