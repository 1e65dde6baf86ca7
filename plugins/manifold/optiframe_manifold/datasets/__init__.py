"""Published comparisons by name, and comparisons drawn from a model."""
