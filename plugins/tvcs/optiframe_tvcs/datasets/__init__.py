"""Data sets by name: planted sparse models, qualities of workers, and expression of genes."""
