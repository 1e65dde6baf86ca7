"""Gene networks: the well-known ways to score edges, for `network-identification`."""
