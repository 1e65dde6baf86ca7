"""Tables of comparisons, ids and known scores: checked and turned into codes."""
