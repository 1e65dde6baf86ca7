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
    return [
        Description(
            "problem",
            "minimize",
            _P + "minimize:Minimize",
            "Minimize an objective over a constraint set",
        ),
        Description(
            "problem",
            "composite",
            _P + "minimize:Composite",
            "Minimize an objective plus regularizers over a constraint set",
        ),
        Description(
            "problem",
            "projection",
            _P + "projection:Projection",
            "Find the nearest point of a set",
        ),
        Description("objective", "least-squares", _L + "LeastSquares", "Mean of half squared residuals"),
        Description("objective", "logistic", _L + "Logistic", "Mean logistic loss of labels -1 and 1"),
        Description(
            "objective", "squared-hinge", _L + "SquaredHinge", "Mean squared hinge loss of labels -1 and 1"
        ),
        Description(
            "objective",
            "squared-distance",
            _O + "objective:SquaredDistance",
            "Half squared distance to a point",
        ),
        Description(
            "objective",
            "function",
            _O + "imported:ImportedFunction",
            "A function of your own, of a module given by --import",
        ),
        Description("objective", "linear", _Q + "Linear", "Inner product with a cost"),
        Description("objective", "quadratic", _Q + "QuadraticForm", "Quadratic form plus a linear term"),
        Description("objective", "sum", _O + "sums:Sum", "Weighted sum of objectives"),
        Description("objective", "huber", _B + "Huber", "Mean Huber loss, for targets with outliers"),
        Description("objective", "quantile", _B + "Quantile", "Mean quantile loss, without a gradient"),
        Description("objective", "poisson", _B + "Poisson", "Mean Poisson loss of counts"),
        Description(
            "objective",
            "multinomial",
            _O + "multinomial:Multinomial",
            "Mean multinomial logistic loss",
        ),
        Description(
            "constraint set",
            "whole-space",
            _S + "constraint_set:WholeSpace",
            "Every point",
        ),
        Description("constraint set", "box", _V + "Box", "Lower and upper bounds"),
        Description("constraint set", "non-negative", _V + "NonNegative", "No entry below zero"),
        Description("constraint set", "l1-ball", _V + "L1Ball", "Sum of absolute values at most a radius"),
        Description("constraint set", "l2-ball", _V + "L2Ball", "Euclidean norm at most a radius"),
        Description("constraint set", "simplex", _V + "Simplex", "Non-negative entries with a given sum"),
        Description(
            "constraint set", "cardinality", _V + "Cardinality", "At most so many entries that are not zero"
        ),
        Description("constraint set", "zero-sum", _V + "ZeroSum", "Entries that sum to zero"),
        Description("constraint set", "linf-ball", _V + "LInfBall", "No absolute value above a radius"),
        Description("constraint set", "integers", _V + "Integers", "Whole numbers between two bounds"),
        Description("constraint set", "affine", _S + "linear_sets:Affine", "Linear equations"),
        Description(
            "constraint set",
            "half-space",
            _S + "linear_sets:HalfSpace",
            "One linear inequality",
        ),
        Description(
            "constraint set",
            "polyhedron",
            _S + "linear_sets:Polyhedron",
            "Linear inequalities",
        ),
        Description(
            "constraint set",
            "intersection",
            _S + "intersection:Intersection",
            "Several sets at once",
        ),
        Description(
            "constraint set", "second-order-cone", _M + "SecondOrderCone", "First entry above the norm"
        ),
        Description(
            "constraint set",
            "positive-semidefinite",
            _M + "PositiveSemidefinite",
            "Symmetric matrices without negative eigenvalues",
        ),
        Description(
            "constraint set", "spectral-ball", _M + "SpectralBall", "Largest singular value at most a radius"
        ),
        Description(
            "constraint set",
            "nuclear-ball",
            _M + "NuclearBall",
            "Matrices whose singular values sum to at most a radius",
        ),
        Description(
            "constraint set", "matrix-rank", _M + "MatrixRank", "Matrices of at most a given rank, as arrays"
        ),
        Description(
            "constraint set",
            "birkhoff",
            _M + "Birkhoff",
            "Doubly stochastic matrices: rows and columns sum to one",
        ),
        Description(
            "constraint set",
            "product",
            _S + "product:Product",
            "Blocks of a vector, each in a set of its own",
        ),
        Description(
            "constraint set",
            "nonlinear",
            _S + "nonlinear:Nonlinear",
            "A function of yours between bounds",
        ),
        Description("part", "regularizer.l1", _R + "L1", "Sum of absolute values (Lasso)"),
        Description("part", "regularizer.squared-l2", _R + "SquaredL2", "Half the squared norm (ridge)"),
        Description("part", "regularizer.elastic-net", _R + "ElasticNet", "Mixture of l1 and squared-l2"),
        Description(
            "part", "regularizer.group-l1", _R + "GroupL1", "Norms of groups of entries (group Lasso)"
        ),
        Description("part", "regularizer.nuclear-norm", _R + "NuclearNorm", "Sum of singular values"),
        Description(
            "part",
            "regularizer.total-variation",
            _R + "TotalVariation",
            "Differences of neighbours in a vector (fused Lasso)",
        ),
        Description("part", "regularizer.l0", _R + "L0", "Number of entries that are not zero"),
    ]
