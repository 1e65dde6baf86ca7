"""Whether a ranking can be believed: findings, intervals, workers, parts of the Hodge split."""
