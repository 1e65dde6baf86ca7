"""Built-in plugin: SciPy and CVXPY as solvers, the yardsticks for everything else."""
