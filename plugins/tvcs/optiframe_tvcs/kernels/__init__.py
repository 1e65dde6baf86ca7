"""The exact projection: compiled kernels, and what they compute in plain NumPy and Python."""
