"""Published label sets, labels drawn from a model, and sets made of other sets."""
