"""Solvers of the projection by name, one a file."""
