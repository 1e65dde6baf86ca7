"""Classification data by name, from files or generated."""
