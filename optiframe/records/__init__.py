"""What every named object is: a frozen, validated, hashable record of its fields."""
