"""What is minimized over matrices of low rank: the penalized likelihood of comparisons, and completion."""
