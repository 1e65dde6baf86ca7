"""Published comparisons, and comparisons drawn from a model."""
