"""Checks in a process of their own, which a hanging or crashing solver cannot end."""
