"""Data sets by name, and instances of the projection from easy to adversarial."""
