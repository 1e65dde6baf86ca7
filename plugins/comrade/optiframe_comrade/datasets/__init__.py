"""Classification data by name."""
