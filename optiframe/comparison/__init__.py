"""Many solvers on shared problems: planned, isolated, stored, counted honestly."""
