"""Tables of comparisons and known scores, checked and turned into codes."""
