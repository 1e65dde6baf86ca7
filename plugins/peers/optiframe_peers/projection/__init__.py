"""Projections and assignments by libraries for linear programs and flows."""
