"""Gradients and Newton steps on data in one place, such as a worker's shard."""
