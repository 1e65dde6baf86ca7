"""Tables of comparisons and of known truth, checked and turned into codes."""
