"""Objectives over matrices of low rank: the likelihood, its penalties, completion."""
