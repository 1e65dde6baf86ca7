"""The linear program of a projection: the instance, prices that prove a support, rounding, shadow prices."""
