"""Other methods for the same problem, with all data in one place; one a file."""
