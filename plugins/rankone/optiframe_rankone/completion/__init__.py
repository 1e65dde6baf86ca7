"""From labels to rank-one completion: how skills follow from labels, the problem, its pairs and objective."""
