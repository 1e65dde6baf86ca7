"""Whether rankings can be believed: findings, certificates, intervals."""
