"""Built-in plugin: SciPy and CVXPY as solvers, the yardsticks for everything else."""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl

_R = "optiframe.reference."


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [
        Description(
            "scipy.lbfgs",
            _R + "scipy_lbfgs:ScipyLBFGS",
            "SciPy's L-BFGS-B: a smooth objective, with or without bounds",
        ),
        Description(
            "scipy.trust-constr",
            _R + "scipy_trust_constr:ScipyTrustConstr",
            "SciPy's trust-constr: a smooth objective with bounds and further constraints",
        ),
        Description(
            "cvxpy",
            _R + "cvxpy_solver:Cvxpy",
            "CVXPY with a solver of its choice: whatever has a convex program",
        ),
    ]
