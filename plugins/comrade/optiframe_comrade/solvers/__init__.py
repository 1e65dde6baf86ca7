"""The distributed methods by name, one a file."""
