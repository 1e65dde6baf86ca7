"""What to do with an answer: which label to ask for next, what more labels would bring."""
