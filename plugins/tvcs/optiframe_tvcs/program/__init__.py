"""The linear program of a projection: the instance, rounding to a support, shadow prices."""
