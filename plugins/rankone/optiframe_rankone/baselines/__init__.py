"""Other methods for crowd labels, one a file."""
