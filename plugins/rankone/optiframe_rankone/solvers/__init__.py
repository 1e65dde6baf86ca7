"""Solvers of rank-one completion, one a file."""
