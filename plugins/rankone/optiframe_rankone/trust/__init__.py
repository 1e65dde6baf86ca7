"""What accompanies an answer: findings, standard errors, and bounds from the worker graph."""
