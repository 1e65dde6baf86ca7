"""The contract of a solver: what it must keep, one check each."""
