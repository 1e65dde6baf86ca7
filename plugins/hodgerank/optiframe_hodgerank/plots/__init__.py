"""Pictures of rankings and of methods."""
