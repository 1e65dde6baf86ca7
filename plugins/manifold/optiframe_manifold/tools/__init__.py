"""What to do with rankings: choice of rank, next pairs, predictions, updating."""
