"""Sparse learning over three-view sets: solvers, baselines and planted data."""
