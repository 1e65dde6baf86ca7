"""Regression, classification and their penalties by libraries, on our problems."""
