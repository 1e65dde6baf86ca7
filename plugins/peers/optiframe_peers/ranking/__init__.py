"""Paired comparisons: evalica's, choix's and crowd-kit's methods for `pairwise-ranking`."""
