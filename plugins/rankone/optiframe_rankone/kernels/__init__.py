"""Compiled passes over labels and pairs of workers, and what they compute in plain NumPy."""
