"""Other methods for collaborative ranking, one a file."""
