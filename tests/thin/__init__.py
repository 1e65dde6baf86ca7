"""Thin, honest versions of the five methods: sample solvers, and slow twins of the plugins."""
