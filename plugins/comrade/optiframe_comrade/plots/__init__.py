"""Pictures of distributed runs."""
