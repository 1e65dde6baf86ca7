"""Kernels in C++, and what they compute in plain NumPy."""
