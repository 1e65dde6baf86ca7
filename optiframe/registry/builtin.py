"""The core's own names, registered by the same door as everybody's."""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl

_P = "optiframe.problems."
_O = "optiframe.problems.objectives."
_L = _O + "losses:"
_B = _O + "robust_losses:"
_Q = _O + "quadratic:"
_S = "optiframe.problems.sets."
_V = _S + "vector_sets:"
_M = _S + "matrix_sets:"
_R = "optiframe.problems.regularizers.norms:"


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "problem": (
        ("minimize", _P + "minimize:Minimize", "Minimize an objective over a constraint set"),
        (
            "composite",
            _P + "minimize:Composite",
            "Minimize an objective plus regularizers over a constraint set",
        ),
        ("projection", _P + "projection:Projection", "Find the nearest point of a set"),
    ),
    "objective": (
        ("least-squares", _L + "LeastSquares", "Mean of half squared residuals"),
        ("logistic", _L + "Logistic", "Mean logistic loss of labels -1 and 1"),
        ("squared-hinge", _L + "SquaredHinge", "Mean squared hinge loss of labels -1 and 1"),
        ("squared-distance", _O + "objective:SquaredDistance", "Half squared distance to a point"),
        (
            "function",
            _O + "imported:ImportedFunction",
            "A function of your own, of a module given by --import",
        ),
        ("linear", _Q + "Linear", "Inner product with a cost"),
        ("quadratic", _Q + "QuadraticForm", "Quadratic form plus a linear term"),
        ("sum", _O + "sums:Sum", "Weighted sum of objectives"),
        ("huber", _B + "Huber", "Mean Huber loss, for targets with outliers"),
        ("quantile", _B + "Quantile", "Mean quantile loss, without a gradient"),
        ("poisson", _B + "Poisson", "Mean Poisson loss of counts"),
        ("multinomial", _O + "multinomial:Multinomial", "Mean multinomial logistic loss"),
    ),
    "constraint set": (
        ("whole-space", _S + "constraint_set:WholeSpace", "Every point"),
        ("box", _V + "Box", "Lower and upper bounds"),
        ("non-negative", _V + "NonNegative", "No entry below zero"),
        ("l1-ball", _V + "L1Ball", "Sum of absolute values at most a radius"),
        ("l2-ball", _V + "L2Ball", "Euclidean norm at most a radius"),
        ("simplex", _V + "Simplex", "Non-negative entries with a given sum"),
        ("cardinality", _V + "Cardinality", "At most so many entries that are not zero"),
        ("zero-sum", _V + "ZeroSum", "Entries that sum to zero"),
        ("linf-ball", _V + "LInfBall", "No absolute value above a radius"),
        ("integers", _V + "Integers", "Whole numbers between two bounds"),
        ("affine", _S + "linear_sets:Affine", "Linear equations"),
        ("half-space", _S + "linear_sets:HalfSpace", "One linear inequality"),
        ("polyhedron", _S + "linear_sets:Polyhedron", "Linear inequalities"),
        ("intersection", _S + "intersection:Intersection", "Several sets at once"),
        ("second-order-cone", _M + "SecondOrderCone", "First entry above the norm"),
        (
            "positive-semidefinite",
            _M + "PositiveSemidefinite",
            "Symmetric matrices without negative eigenvalues",
        ),
        ("spectral-ball", _M + "SpectralBall", "Largest singular value at most a radius"),
        ("nuclear-ball", _M + "NuclearBall", "Matrices whose singular values sum to at most a radius"),
        ("matrix-rank", _M + "MatrixRank", "Matrices of at most a given rank, as arrays"),
        ("birkhoff", _M + "Birkhoff", "Doubly stochastic matrices: rows and columns sum to one"),
        ("product", _S + "product:Product", "Blocks of a vector, each in a set of its own"),
        ("nonlinear", _S + "nonlinear:Nonlinear", "A function of yours between bounds"),
    ),
    "part": (
        ("regularizer.l1", _R + "L1", "Sum of absolute values (Lasso)"),
        ("regularizer.squared-l2", _R + "SquaredL2", "Half the squared norm (ridge)"),
        ("regularizer.elastic-net", _R + "ElasticNet", "Mixture of l1 and squared-l2"),
        ("regularizer.group-l1", _R + "GroupL1", "Norms of groups of entries (group Lasso)"),
        ("regularizer.nuclear-norm", _R + "NuclearNorm", "Sum of singular values"),
        (
            "regularizer.total-variation",
            _R + "TotalVariation",
            "Differences of neighbours in a vector (fused Lasso)",
        ),
        ("regularizer.l0", _R + "L0", "Number of entries that are not zero"),
    ),
}
