"""The core's own names, registered by the same door as everybody's."""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl

_S = "optiframe.problems.sets:"
_L = "optiframe.problems.losses:"


@hookimpl
def optiframe_problems() -> list[Description]:
    return [
        Description(
            "minimize", "optiframe.problems.minimize:Minimize", "Minimize an objective over a constraint set"
        ),
        Description(
            "projection", "optiframe.problems.projection:Projection", "Find the nearest point of a set"
        ),
    ]


@hookimpl
def optiframe_objectives() -> list[Description]:
    return [
        Description("least-squares", _L + "LeastSquares", "Mean of half squared residuals"),
        Description("logistic", _L + "Logistic", "Mean logistic loss of labels -1 and 1"),
        Description("squared-hinge", _L + "SquaredHinge", "Mean squared hinge loss of labels -1 and 1"),
        Description(
            "squared-distance",
            "optiframe.problems.objective:SquaredDistance",
            "Half squared distance to a point",
        ),
    ]


@hookimpl
def optiframe_constraint_sets() -> list[Description]:
    return [
        Description("whole-space", "optiframe.problems.constraints:WholeSpace", "Every point"),
        Description("box", _S + "Box", "Lower and upper bounds"),
        Description("non-negative", _S + "NonNegative", "No entry below zero"),
        Description("l1-ball", _S + "L1Ball", "Sum of absolute values at most a radius"),
        Description("l2-ball", _S + "L2Ball", "Euclidean norm at most a radius"),
        Description("simplex", _S + "Simplex", "Non-negative entries with a given sum"),
        Description("cardinality", _S + "Cardinality", "At most so many entries that are not zero"),
        Description("zero-sum", _S + "ZeroSum", "Entries that sum to zero"),
    ]
