"""Three-view sets, the groups and caps they are made of, and what learning asks of any sparse set."""
