"""Whether rankings can be believed: findings, curvature behind standard errors, certificates."""
