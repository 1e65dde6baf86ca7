"""Projections by linear-programming libraries."""
