"""The regularization path: which comparisons became outliers, when, and the scores along it."""
