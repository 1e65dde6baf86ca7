"""What to do with a ranking: which pairs to compare next, and more rows than fit in memory."""
