"""What to do with a ranking: pairs to compare next, conditions on its outliers, more rows than memory."""
