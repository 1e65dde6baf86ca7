"""Pieces of a method chosen by name: filters, attacks, faults, compressors, and what they compute with."""
