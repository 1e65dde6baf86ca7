"""Pictures of comparisons of methods."""
