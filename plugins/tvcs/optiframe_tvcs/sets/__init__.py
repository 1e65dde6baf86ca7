"""Three-view sets and the groups they are made of."""
