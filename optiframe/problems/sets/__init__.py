"""Constraint sets: projections, violations, and the forms that SciPy and CVXPY take."""
