"""Instances of the projection, from easy to adversarial."""
