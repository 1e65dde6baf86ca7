"""Compiled passes over comparisons and blocks of rows, and what they compute in plain NumPy."""
