"""TOML files in, results out."""
