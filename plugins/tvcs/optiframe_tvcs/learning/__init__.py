"""Sparse learning over three-view sets: thresholding, matching pursuits, and what they are compared with."""
