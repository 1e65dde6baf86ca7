"""Task assignment: the problem, its data and answers, its objective and its solvers."""
