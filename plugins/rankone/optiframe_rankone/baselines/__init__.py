"""Other people's methods for crowd labels, one a file, and what several of them share."""
