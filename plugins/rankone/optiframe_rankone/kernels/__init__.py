"""Passes over the codes of labels and over pairs of workers: NumPy, and compiled twins for big inputs."""
