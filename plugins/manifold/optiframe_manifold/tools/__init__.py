"""What to do with rankings: intervals, the choice of a rank, next pairs, predictions, updating."""
