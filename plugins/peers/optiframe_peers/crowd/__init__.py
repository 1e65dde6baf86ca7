"""Crowd labels: crowd-kit's methods for `label-aggregation`."""
