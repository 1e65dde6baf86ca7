"""Solvers that break the contract on purpose: what a failed check looks like."""
