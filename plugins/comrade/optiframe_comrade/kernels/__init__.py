"""Compiled passes over a block of rows; each has its plain twin in `local`."""
