"""Robust aggregators of libraries, as parts of the distributed solvers."""
