"""What one worker computes on its shard."""
