"""What to do with an answer: the next label to ask for, how sure skills are, what more labels would bring."""
