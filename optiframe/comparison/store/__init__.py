"""The stored comparison: a SQLite file, its rows, claims on cells, exports."""
