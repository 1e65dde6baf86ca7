"""The distributed methods by name, one a file; `distributed` has what they share."""
