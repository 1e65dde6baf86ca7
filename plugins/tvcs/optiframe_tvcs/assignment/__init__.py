"""Task assignment: the problem, its objective, its data and its solvers."""
