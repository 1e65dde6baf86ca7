"""The methods by name, one a file."""
