"""Rankings of several items and choices from sets: the problem, its data and their likelihood."""
