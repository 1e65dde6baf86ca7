"""Names to classes: plugins, the checks they pass, users' own modules."""
