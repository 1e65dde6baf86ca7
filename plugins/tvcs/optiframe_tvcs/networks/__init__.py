"""Network identification: the problem, its data and answers, its objective and its metrics."""
