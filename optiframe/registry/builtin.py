"""The core's own names, registered by the same door as everybody's."""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl

_S = "optiframe.problems.sets:"
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
    ]
