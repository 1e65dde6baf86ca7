"""What stored outcomes say: losses, intervals, tests, ranks, profiles."""
