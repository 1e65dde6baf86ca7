"""Pieces chosen by name: filters, attacks, faults and compressors."""
