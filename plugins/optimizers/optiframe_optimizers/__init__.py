"""General test problems and optimizers: the names this plugin brings.

The classes are imported on use, and each imports its library when it is run; this module imports
neither NumPy nor pydantic.
"""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [*_collections(), *_solvers()]


def _collections() -> list[Description]:
    """Problems that other people have collected, for `minimize`."""
    return [
        Description(
            "data set",
            "cutest",
            ".collections.cutest:Cutest",
            "CUTEst problems chosen by size and kind of constraints",
        ),
        Description(
            "data set", "cutest.problem", ".collections.cutest:CutestProblem", "A problem of CUTEst by name"
        ),
        Description(
            "objective", "cutest", ".collections.cutest:CutestObjective", "The objective of a CUTEst problem"
        ),
        Description(
            "constraint set",
            "cutest",
            ".collections.cutest:CutestConstraints",
            "Constraints of a CUTEst problem",
        ),
        Description(
            "data set",
            "bbob",
            ".collections.bbob:Bbob",
            "Functions of COCO's testbed BBOB by size, number and instance",
        ),
        Description("data set", "bbob.problem", ".collections.bbob:BbobProblem", "One function of BBOB"),
        Description(
            "objective", "bbob", ".collections.bbob:BbobObjective", "The objective of a BBOB function"
        ),
        Description(
            "data set",
            "libsvm",
            ".collections.libsvm:Libsvm",
            "LIBSVM files with logistic, Lasso, elastic net and support vector objectives",
        ),
        Description(
            "data set",
            "libsvm.problem",
            ".collections.libsvm:LibsvmProblem",
            "One of them, by file and model",
        ),
        Description(
            "data set",
            "synthetic.linear-program",
            ".collections.linear_programs:LinearProgram",
            "Random linear programs with a known answer",
        ),
    ]


def _solvers() -> list[Description]:
    """General optimizers of other libraries: each library a module of `solvers`."""
    return [Description("solver", name, f".solvers.{path}", summary) for name, path, summary in _SOLVERS]


_SOLVERS = (
    ("nlopt.bobyqa", "nlopt:Bobyqa", "NLopt's BOBYQA: values only, within bounds"),
    ("nlopt.newuoa", "nlopt:Newuoa", "NLopt's NEWUOA: values only, no constraints"),
    ("nlopt.cobyla", "nlopt:Cobyla", "NLopt's COBYLA: values only, with bounds and constraints"),
    (
        "nlopt.nelder-mead",
        "nlopt:NelderMead",
        "NLopt's simplex of Nelder and Mead: values only, within bounds",
    ),
    ("nlopt.sbplx", "nlopt:Sbplx", "NLopt's subplex: values only, within bounds"),
    ("nlopt.praxis", "nlopt:Praxis", "NLopt's principal axes of Brent: values only, no constraints"),
    ("nlopt.lbfgs", "nlopt:Lbfgs", "NLopt's limited-memory BFGS, within bounds"),
    ("nlopt.tnewton", "nlopt:TruncatedNewton", "NLopt's truncated Newton, within bounds, from gradients"),
    (
        "nlopt.slsqp",
        "nlopt:Slsqp",
        "NLopt's sequential quadratic programming: gradients, bounds and constraints",
    ),
    ("nlopt.mma", "nlopt:Mma", "NLopt's moving asymptotes: gradients, bounds and inequalities"),
    (
        "nlopt.ccsaq",
        "nlopt:Ccsaq",
        "NLopt's conservative quadratic models: gradients, bounds and inequalities",
    ),
    ("nlopt.direct", "nlopt:Direct", "NLopt's DIRECT-L: global, bounds"),
    ("nlopt.crs", "nlopt:Crs", "NLopt's controlled random search: global, bounds"),
    ("nlopt.isres", "nlopt:Isres", "NLopt's stochastic ranking evolution: global, bounds and constraints"),
    ("nlopt.esch", "nlopt:Esch", "NLopt's evolution strategy: global, bounds"),
    ("cma", "cma:CmaEs", "CMA-ES: values only, within bounds; rugged or badly scaled objectives"),
    ("cobyqa", "cobyqa:Cobyqa", "COBYQA by its authors: values only, with bounds and constraints"),
    (
        "skglm.composite",
        "skglm:SkglmComposite",
        "skglm: least squares or logistic plus l1, elastic net or group Lasso",
    ),
    ("celer.composite", "celer:CelerComposite", "celer: least squares or logistic plus l1 or an elastic net"),
    (
        "sklearn.composite",
        "sklearn:SklearnComposite",
        "scikit-learn: least squares or logistic plus l1 or an elastic net",
    ),
    ("cvxpy.clarabel", "cvxpy:Clarabel", "Clarabel through CVXPY: an interior point for convex programs"),
    ("cvxpy.scs", "cvxpy:Scs", "SCS through CVXPY: splitting for large cone programs, moderate accuracy"),
    ("cvxpy.osqp", "cvxpy:Osqp", "OSQP through CVXPY: splitting for quadratic programs, moderate accuracy"),
    (
        "cvxpy.highs",
        "cvxpy:Highs",
        "HiGHS through CVXPY: linear and convex quadratic programs, whole numbers",
    ),
    (
        "nevergrad",
        "nevergrad:Nevergrad",
        "nevergrad: some hundred methods by values only, by their names there",
    ),
    ("ipopt", "ipopt:Ipopt", "Ipopt: an interior point for smooth problems with bounds and constraints"),
    ("optax", "optax:Optax", "optax: first-order methods as they train networks, a fixed learning rate"),
    ("optimistix.bfgs", "optimistix:Bfgs", "optimistix's BFGS in JAX: gradients, no constraints"),
    ("optimistix.lbfgs", "optimistix:Lbfgs", "optimistix's limited-memory BFGS: gradients, no constraints"),
    (
        "optimistix.nonlinear-cg",
        "optimistix:NonlinearCg",
        "optimistix's conjugate gradients: gradients, no constraints",
    ),
    (
        "optimistix.gradient-descent",
        "optimistix:GradientDescent",
        "optimistix's gradient descent: steps of one length, no constraints",
    ),
    (
        "optimistix.levenberg-marquardt",
        "optimistix:LevenbergMarquardt",
        "optimistix's Levenberg-Marquardt: least squares by Jacobians, no constraints",
    ),
    (
        "optimistix.gauss-newton",
        "optimistix:GaussNewton",
        "optimistix's Gauss-Newton: least squares by Jacobians, no constraints",
    ),
    (
        "optimistix.dogleg",
        "optimistix:Dogleg",
        "optimistix's dogleg: least squares by Jacobians, no constraints",
    ),
)
