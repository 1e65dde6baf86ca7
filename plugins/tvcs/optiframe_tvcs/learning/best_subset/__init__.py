"""Searches for better supports: splicing, and what it is made of."""
