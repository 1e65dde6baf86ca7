"""Methods on all data in one place."""
