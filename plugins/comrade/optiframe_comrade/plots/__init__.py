"""Curves and pictures of finished runs."""
