"""Other people's methods for collaborative ranking and for matrices of low rank, one a file."""
