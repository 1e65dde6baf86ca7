"""The core's own names, registered by the same door as everybody's."""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl

_S = "optiframe.problems.sets:"
_M = "optiframe.problems.matrix_sets:"
_R = "optiframe.problems.regularizers:"
_Q = "optiframe.problems.quadratic:"
_B = "optiframe.problems.robust_losses:"
_L = "optiframe.problems.losses:"


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [
        Description(
            "problem",
            "minimize",
            "optiframe.problems.minimize:Minimize",
            "Minimize an objective over a constraint set",
        ),
        Description(
            "problem",
            "composite",
            "optiframe.problems.minimize:Composite",
            "Minimize an objective plus regularizers over a constraint set",
        ),
        Description(
            "problem",
            "projection",
            "optiframe.problems.projection:Projection",
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
            "optiframe.problems.objective:SquaredDistance",
            "Half squared distance to a point",
        ),
        Description("objective", "linear", _Q + "Linear", "Inner product with a cost"),
        Description("objective", "quadratic", _Q + "QuadraticForm", "Quadratic form plus a linear term"),
        Description("objective", "sum", "optiframe.problems.sums:Sum", "Weighted sum of objectives"),
        Description("objective", "huber", _B + "Huber", "Mean Huber loss, for targets with outliers"),
        Description("objective", "quantile", _B + "Quantile", "Mean quantile loss, without a gradient"),
        Description("objective", "poisson", _B + "Poisson", "Mean Poisson loss of counts"),
        Description(
            "objective",
            "multinomial",
            "optiframe.problems.multinomial:Multinomial",
            "Mean multinomial logistic loss",
        ),
        Description(
            "constraint set", "whole-space", "optiframe.problems.constraints:WholeSpace", "Every point"
        ),
        Description("constraint set", "box", _S + "Box", "Lower and upper bounds"),
        Description("constraint set", "non-negative", _S + "NonNegative", "No entry below zero"),
        Description("constraint set", "l1-ball", _S + "L1Ball", "Sum of absolute values at most a radius"),
        Description("constraint set", "l2-ball", _S + "L2Ball", "Euclidean norm at most a radius"),
        Description("constraint set", "simplex", _S + "Simplex", "Non-negative entries with a given sum"),
        Description(
            "constraint set", "cardinality", _S + "Cardinality", "At most so many entries that are not zero"
        ),
        Description("constraint set", "zero-sum", _S + "ZeroSum", "Entries that sum to zero"),
        Description("constraint set", "linf-ball", _S + "LInfBall", "No absolute value above a radius"),
        Description("constraint set", "integers", _S + "Integers", "Whole numbers between two bounds"),
        Description("constraint set", "affine", "optiframe.problems.linear_sets:Affine", "Linear equations"),
        Description(
            "constraint set",
            "half-space",
            "optiframe.problems.linear_sets:HalfSpace",
            "One linear inequality",
        ),
        Description(
            "constraint set", "polyhedron", "optiframe.problems.linear_sets:Polyhedron", "Linear inequalities"
        ),
        Description(
            "constraint set",
            "intersection",
            "optiframe.problems.intersection:Intersection",
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
