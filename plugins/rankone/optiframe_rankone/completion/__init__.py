"""Rank-one completion of the workers' correlations: the problem, its pairs and its objective."""
