"""Checks of compiled kernels: beside their references, with bad arguments, while arrays change."""
