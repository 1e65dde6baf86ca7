"""Built-in plugin: general methods, in NumPy and SciPy."""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "solver": (
        (
            "gradient.projected",
            ".projected_gradient:ProjectedGradient",
            "Spectral projected gradient: a smooth objective over any set with a projection",
        ),
        (
            "gradient.proximal",
            ".proximal_gradient:ProximalGradient",
            "FISTA with restarts: a smooth objective plus regularizers with a proximal step",
        ),
        (
            "gradient.frank-wolfe",
            ".frank_wolfe:FrankWolfe",
            "Conditional gradients with away steps: a smooth objective over a set with farthest points",
        ),
        (
            "coordinate.lasso",
            ".lasso:WorkingSetLasso",
            "Coordinate descent on working sets: least squares plus l1 or elastic net",
        ),
        (
            "primal-dual.pdhg",
            ".pdhg:PrimalDualHybridGradient",
            "Primal-dual hybrid gradients (PDLP): linear and quadratic objectives, linear constraints",
        ),
        (
            "stochastic.saga",
            ".saga:Saga",
            "SAGA: sums of many smooth terms, plus regularizers with a proximal step",
        ),
        (
            "scipy.nelder-mead",
            ".scipy_local:NelderMead",
            "Nelder and Mead's simplex: values only, with bounds",
        ),
        ("scipy.powell", ".scipy_local:Powell", "Powell's conjugate directions: values only, with bounds"),
        ("scipy.cobyla", ".scipy_local:Cobyla", "COBYLA: values only, with bounds and constraints"),
        ("scipy.cobyqa", ".scipy_local:Cobyqa", "COBYQA: values only, with bounds and constraints"),
        (
            "scipy.cg",
            ".scipy_local:ConjugateGradients",
            "Nonlinear conjugate gradients: a gradient, no constraints",
        ),
        ("scipy.bfgs", ".scipy_local:Bfgs", "BFGS: a gradient, no constraints"),
        ("scipy.newton-cg", ".scipy_local:NewtonCg", "Truncated Newton: second derivatives, no constraints"),
        ("scipy.tnc", ".scipy_local:Tnc", "Truncated Newton with bounds, from gradients"),
        (
            "scipy.slsqp",
            ".scipy_local:Slsqp",
            "Sequential quadratic programming: gradients, bounds and constraints",
        ),
        (
            "scipy.dogleg",
            ".scipy_local:Dogleg",
            "Trust region with dogleg steps: a positive definite Hessian",
        ),
        (
            "scipy.trust-ncg",
            ".scipy_local:TrustNcg",
            "Trust region with conjugate gradients: second derivatives",
        ),
        (
            "scipy.trust-exact",
            ".scipy_local:TrustExact",
            "Trust region with nearly exact steps: second derivatives",
        ),
        (
            "scipy.differential-evolution",
            ".scipy_global:DifferentialEvolution",
            "Differential evolution: global, bounds and constraints",
        ),
        (
            "scipy.dual-annealing",
            ".scipy_global:DualAnnealing",
            "Generalized simulated annealing: global, bounds",
        ),
        ("scipy.shgo", ".scipy_global:Shgo", "Simplicial homology: global, bounds and constraints"),
        ("scipy.direct", ".scipy_global:Direct", "DIRECT: global, bounds"),
        (
            "scipy.basinhopping",
            ".scipy_global:BasinHopping",
            "Hops between local minima: global, from a start",
        ),
        ("scipy.brute", ".scipy_global:Brute", "Every point of a grid: global, one to three entries"),
        (
            "scipy.least-squares",
            ".scipy_least_squares:LeastSquaresBySciPy",
            "Nonlinear least squares by a trust region, within bounds",
        ),
        ("scipy.lsq-linear", ".scipy_least_squares:LsqLinear", "Linear least squares within bounds"),
        ("scipy.nnls", ".scipy_least_squares:Nnls", "Non-negative least squares by active sets"),
        ("scipy.milp", ".scipy_linear:Milp", "Linear programs with whole numbers (HiGHS)"),
        ("scipy.linprog", ".scipy_linear:LinearProgram", "Linear programs (HiGHS)"),
    ),
}
