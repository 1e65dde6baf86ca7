"""Published label sets, and labels drawn from a model."""
