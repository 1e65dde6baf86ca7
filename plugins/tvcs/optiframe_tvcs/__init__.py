"""Three-view cardinality sets: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_tvcs.program.shadow_prices import shadow_prices as shadow_prices
    from optiframe_tvcs.projection.certificate import Certificate as Certificate
    from optiframe_tvcs.projection.certificate import Prices as Prices
    from optiframe_tvcs.projection.plan import ProjectionPlan as ProjectionPlan
    from optiframe_tvcs.projection.prepare import prepare as prepare
    from optiframe_tvcs.projection.selection import Selection as Selection
    from optiframe_tvcs.sets.groups import Groups as Groups
    from optiframe_tvcs.sets.three_view import ThreeView as ThreeView

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    {
        "projection.certificate": ("Certificate", "Prices"),
        "program.shadow_prices": ("shadow_prices",),
        "sets.groups": ("Groups",),
        "projection.plan": ("ProjectionPlan",),
        "projection.prepare": ("prepare",),
        "projection.selection": ("Selection",),
        "sets.three_view": ("ThreeView",),
    },
)

_HERE = "optiframe_tvcs."


@hookimpl
def optiframe_constraint_sets() -> list[Description]:
    return [
        Description(
            "three-view",
            _HERE + "sets.three_view:ThreeView",
            "Few nonzeros in all, in each group of one view and in each group of another",
        ),
        Description(
            "three-view-box",
            _HERE + "sets.boxed_three_view:BoxedThreeView",
            "The same with entries from 0 to 1: assignments, relaxed",
        ),
    ]


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [
        Description(
            "tvcs.exact",
            _HERE + "projectors.exact:ExactProjection",
            "Projection onto a three-view set, exact and proved on every call",
        ),
        Description(
            "tvcs.iht",
            _HERE + "learning.iht:IterativeHardThresholding",
            "Iterative hard thresholding: a gradient step, then the projection",
        ),
        Description(
            "tvcs.gradmp",
            _HERE + "learning.gradmp:GradientMatchingPursuit",
            "Gradient matching pursuit: fit on a doubled support, then prune",
        ),
        Description(
            "tvcs.htp",
            _HERE + "learning.htp:HardThresholdingPursuit",
            "Hard thresholding pursuit: the support of a gradient step, and the best point on it",
        ),
        Description(
            "tvcs.stochastic-iht",
            _HERE + "learning.stochastic:StochasticIHT",
            "Iterative hard thresholding with gradients of random blocks of terms",
        ),
        Description(
            "tvcs.stochastic-gradmp",
            _HERE + "learning.stochastic:StochasticGradMP",
            "Gradient matching pursuit with gradients of random blocks of terms",
        ),
        Description(
            "tvcs.fewer-views",
            _HERE + "learning.baselines:FewerViews",
            "Sparse learning with some of the views, projected onto all at the end",
        ),
        Description(
            "tvcs.exclusive-lasso",
            _HERE + "learning.baselines:ExclusiveLasso",
            "Squared l1 norms of the groups as a penalty, projected at the end",
        ),
        Description(
            "tvcs.first-order",
            _HERE + "projectors.first_order:FirstOrderProjection",
            "Projection onto a three-view set by the paper's projected gradient; for p up to 400",
        ),
        Description(
            "tvcs.pdhg",
            _HERE + "projectors.pdhg:PrimalDualProjection",
            "Projection onto a three-view set by restarted primal-dual steps",
        ),
        Description(
            "tvcs.highs",
            _HERE + "projectors.highs:SimplexProjection",
            "Projection onto a three-view set by HiGHS's dual simplex (SciPy)",
        ),
        Description(
            "tvcs.cvxpy",
            _HERE + "projectors.cvxpy_projection:CvxpyProjection",
            "Projection onto a three-view set through CVXPY, by any of its engines",
        ),
        Description(
            "tvcs.ortools",
            _HERE + "projectors.ortools_flow:FlowProjection",
            "Projection onto a three-view set as a minimum-cost flow, by OR-tools",
        ),
        Description(
            "tvcs.greedy",
            _HERE + "projectors.greedy:GreedyProjection",
            "Largest entries first onto a three-view set; not exact, says what it loses at most",
        ),
        Description(
            "tvcs.assignment-iht",
            _HERE + "assignment.solvers:AssignmentIHT",
            "Stochastic iterative hard thresholding on the smoothed expected accuracy",
        ),
        Description(
            "tvcs.assignment-by-quality",
            _HERE + "assignment.solvers:AssignmentByQuality",
            "The assignment with the greatest sum of qualities, by the exact linear program",
        ),
        Description(
            "tvcs.assignment-random",
            _HERE + "assignment.solvers:RandomAssignment",
            "A random assignment that uses the caps as far as possible",
        ),
        Description(
            "tvcs.network-association",
            _HERE + "networks.association:NetworkAssociation",
            "The edges with the strongest lagged correlation, or CLR score, within the caps",
        ),
    ]


@hookimpl
def optiframe_objectives() -> list[Description]:
    return [
        Description(
            "assignment-loss",
            _HERE + "assignment.objective:AssignmentLoss",
            "Smoothed expected share of wrong labels of an assignment, over drawn answers",
        ),
        Description(
            "network-least-squares",
            _HERE + "networks.objective:NetworkLeastSquares",
            "Least squares for a network of effects without self-edges, in matrix form",
        ),
    ]


@hookimpl
def optiframe_problems() -> list[Description]:
    return [
        Description(
            "sparse-recovery",
            _HERE + "learning.sparse_recovery:SparseRecovery",
            "Minimize over sparse points, judged against a known true point",
        ),
        Description(
            "task-assignment",
            _HERE + "assignment.problem:TaskAssignment",
            "Assign workers to tasks within caps for the greatest expected accuracy",
        ),
        Description(
            "network-identification",
            _HERE + "networks.problem:NetworkIdentification",
            "Find a directed network with bounded degrees from expression over time",
        ),
    ]


@hookimpl
def optiframe_datasets() -> list[Description]:
    return [
        Description(
            "sparse.planted-regression",
            _HERE + "datasets.planted:PlantedRegression",
            "Gaussian samples of a matrix with a three-view support: regression",
        ),
        Description(
            "sparse.planted-classification",
            _HERE + "datasets.planted:PlantedClassification",
            "Gaussian samples of a matrix with a three-view support: classification",
        ),
        Description(
            "assignment.uniform",
            _HERE + "datasets.assignments:UniformQualities",
            "Qualities of workers for tasks, uniform between .5 and .9, caps as ratios",
        ),
        Description(
            "grn.random-network",
            _HERE + "datasets.gene_networks:RandomNetwork",
            "A drawn network of 30 genes with bounded degrees, linear dynamics and noise",
        ),
        *(
            Description(
                f"grn.dream4-10.{k}",
                _HERE + f"datasets.gene_networks:Dream4Of10Number{k}",
                f"DREAM4 network {k} of ten genes: 105 points, {edges} edges",
            )
            for k, edges in enumerate((15, 16, 15, 13, 12), start=1)
        ),
        *(
            Description(
                f"grn.dream4-100.{k}",
                _HERE + f"datasets.gene_networks:Dream4Of100Number{k}",
                f"DREAM4 network {k} of a hundred genes: 210 points, {edges} edges",
            )
            for k, edges in enumerate((176, 249), start=1)
        ),
    ]
