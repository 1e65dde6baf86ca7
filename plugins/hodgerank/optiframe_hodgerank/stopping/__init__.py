"""How many outliers: rules for where along a path to stop."""
