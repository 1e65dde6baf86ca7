"""Choosing items from a table: bounds by group, the best choice, and why it is that one."""
