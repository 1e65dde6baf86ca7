"""Compiled passes over a block of rows, and what they compute in plain NumPy."""
