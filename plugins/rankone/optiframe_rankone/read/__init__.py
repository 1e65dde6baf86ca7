"""Tables of labels, truth, gold and skills, checked and turned into the records of `data`."""
