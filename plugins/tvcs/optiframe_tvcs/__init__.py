"""Three-view cardinality sets: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_tvcs.certificate import Certificate as Certificate
    from optiframe_tvcs.certificate import Prices as Prices
    from optiframe_tvcs.certificate import Selection as Selection
    from optiframe_tvcs.gains import gains as gains
    from optiframe_tvcs.groups import Groups as Groups
    from optiframe_tvcs.three_view import ThreeView as ThreeView

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    {
        "certificate": ("Certificate", "Prices", "Selection"),
        "gains": ("gains",),
        "groups": ("Groups",),
        "three_view": ("ThreeView",),
    },
)

_HERE = "optiframe_tvcs."


@hookimpl
def optiframe_constraint_sets() -> list[Description]:
    return [
        Description(
            "three-view",
            _HERE + "three_view:ThreeView",
            "Few nonzeros in all, in each group of one view and in each group of another",
        )
    ]


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [
        Description(
            "tvcs.iht",
            _HERE + "iht:IterativeHardThresholding",
            "Iterative hard thresholding: a gradient step, then the projection",
        ),
        Description(
            "tvcs.gradmp",
            _HERE + "gradmp:GradientMatchingPursuit",
            "Gradient matching pursuit: fit on a doubled support, then prune",
        ),
        Description(
            "tvcs.htp",
            _HERE + "htp:HardThresholdingPursuit",
            "Hard thresholding pursuit: the support of a gradient step, and the best point on it",
        ),
        Description(
            "tvcs.stochastic-iht",
            _HERE + "stochastic:StochasticIHT",
            "Iterative hard thresholding with gradients of random blocks of terms",
        ),
        Description(
            "tvcs.stochastic-gradmp",
            _HERE + "stochastic:StochasticGradMP",
            "Gradient matching pursuit with gradients of random blocks of terms",
        ),
        Description(
            "tvcs.fewer-views",
            _HERE + "baselines:FewerViews",
            "Sparse learning with some of the views, projected onto all at the end",
        ),
        Description(
            "tvcs.exclusive-lasso",
            _HERE + "baselines:ExclusiveLasso",
            "Squared l1 norms of the groups as a penalty, projected at the end",
        ),
        Description(
            "tvcs.first-order",
            _HERE + "first_order:FirstOrderProjection",
            "Projection onto a three-view set by the paper's projected gradient; for p up to 100",
        ),
        Description(
            "tvcs.pdhg",
            _HERE + "pdhg:PrimalDualProjection",
            "Projection onto a three-view set by restarted primal-dual steps",
        ),
        Description(
            "tvcs.highs",
            _HERE + "highs:SimplexProjection",
            "Projection onto a three-view set by HiGHS's dual simplex (SciPy)",
        ),
        Description(
            "tvcs.cvxpy",
            _HERE + "cvxpy_projection:CvxpyProjection",
            "Projection onto a three-view set through CVXPY, by any of its engines",
        ),
        Description(
            "tvcs.ortools",
            _HERE + "ortools_flow:FlowProjection",
            "Projection onto a three-view set as a minimum-cost flow, by OR-tools",
        ),
        Description(
            "tvcs.greedy",
            _HERE + "greedy:GreedyProjection",
            "Largest entries first onto a three-view set; not exact, says what it loses at most",
        ),
    ]


@hookimpl
def optiframe_problems() -> list[Description]:
    return [
        Description(
            "sparse-recovery",
            _HERE + "sparse_recovery:SparseRecovery",
            "Minimize over sparse points, judged against a known true point",
        ),
    ]


@hookimpl
def optiframe_datasets() -> list[Description]:
    return [
        Description(
            "sparse.planted-regression",
            _HERE + "planted:PlantedRegression",
            "Gaussian samples of a matrix with a three-view support: regression",
        ),
        Description(
            "sparse.planted-classification",
            _HERE + "planted:PlantedClassification",
            "Gaussian samples of a matrix with a three-view support: classification",
        ),
    ]
