"""Tables of labels, gold and known skills, checked and turned into codes."""
