"""What the items of the papers share: their runs, the rules of their verdicts, their pages."""
