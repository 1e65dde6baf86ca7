"""Regularizers: their values, proximal steps and dual norms."""
