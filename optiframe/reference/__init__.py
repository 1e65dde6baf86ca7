"""Built-in plugin: SciPy and CVXPY as solvers, the yardsticks for everything else."""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "solver": (
        (
            "scipy.lbfgs",
            ".scipy_lbfgs:ScipyLBFGS",
            "SciPy's L-BFGS-B: a smooth objective, with or without bounds",
        ),
        (
            "scipy.trust-constr",
            ".scipy_trust_constr:ScipyTrustConstr",
            "SciPy's trust-constr: a smooth objective with bounds and further constraints",
        ),
        ("cvxpy", ".cvxpy_solver:Cvxpy", "CVXPY with a solver of its choice: whatever has a convex program"),
    ),
}
