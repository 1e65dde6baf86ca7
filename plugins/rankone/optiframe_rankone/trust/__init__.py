"""Whether an answer can be believed: findings, intervals, the worker graph's bounds."""
