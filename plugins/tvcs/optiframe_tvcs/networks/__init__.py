"""Network identification: the problem, its objective, its data and its metrics."""
