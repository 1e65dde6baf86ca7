"""Three-view cardinality sets: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_tvcs.estimator import SparseClassifier as SparseClassifier
    from optiframe_tvcs.estimator import SparseRegressor as SparseRegressor
    from optiframe_tvcs.program.shadow_prices import shadow_prices as shadow_prices
    from optiframe_tvcs.projection.certificate import Certificate as Certificate
    from optiframe_tvcs.projection.certificate import Prices as Prices
    from optiframe_tvcs.projection.plan import ProjectionPlan as ProjectionPlan
    from optiframe_tvcs.projection.selection import Selection as Selection
    from optiframe_tvcs.selection.problem import ItemSelection as ItemSelection
    from optiframe_tvcs.sets.groups import Groups as Groups
    from optiframe_tvcs.sets.three_view import ThreeView as ThreeView

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    former={
        "gains": "shadow_prices",
        "prepare": "nothing, kernels are compiled when the package is installed",
    },
)

OPTIFRAME_RENAMED = {
    "tvcs.cvxpy": "cvxpy",
    "tvcs.highs": "highspy.projection (of optiframework-peers) or cvxpy",
    "tvcs.ortools": "ortools.projection (of optiframework-peers)",
    "tvcs.network-association": "genes.pearson or genes.clr (of optiframework-peers)",
}


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "problem": (
        (
            "sparse-recovery",
            ".learning.sparse_recovery:SparseRecovery",
            "Minimize over sparse points, judged against a known true point",
        ),
        (
            "task-assignment",
            ".assignment.problem:TaskAssignment",
            "Assign workers to tasks within caps for the greatest expected accuracy",
        ),
        (
            "selection",
            ".selection.problem:ItemSelection",
            "Choose items from a table for the greatest value, within bounds on their groups",
        ),
        (
            "network-identification",
            ".networks.problem:NetworkIdentification",
            "Find a directed network with bounded degrees from expression over time",
        ),
    ),
    "solver": (
        (
            "tvcs.exact",
            ".solvers.exact:ExactProjection",
            "Projection onto a three-view set, exact and proved on every call",
        ),
        (
            "tvcs.iht",
            ".learning.iht:IterativeHardThresholding",
            "Iterative hard thresholding: a gradient step, then the projection",
        ),
        (
            "tvcs.gradmp",
            ".learning.gradmp:GradientMatchingPursuit",
            "Gradient matching pursuit: fit on a doubled support, then prune",
        ),
        (
            "tvcs.htp",
            ".learning.htp:HardThresholdingPursuit",
            "Hard thresholding pursuit: the support of a gradient step, and the best point on it",
        ),
        (
            "tvcs.splicing",
            ".learning.best_subset.splicing:Splicing",
            "Exchanges of entries in and out of the support, each followed by the best fit",
        ),
        (
            "tvcs.stochastic-iht",
            ".learning.stochastic:StochasticIHT",
            "Iterative hard thresholding with gradients of random blocks of terms that grow",
        ),
        (
            "tvcs.stochastic-gradmp",
            ".learning.stochastic:StochasticGradMP",
            "Gradient matching pursuit with gradients of random blocks of terms",
        ),
        (
            "tvcs.fewer-views",
            ".learning.baselines:FewerViews",
            "Sparse learning with some of the views, projected onto all at the end",
        ),
        (
            "tvcs.exclusive-lasso",
            ".learning.baselines:ExclusiveLasso",
            "Squared l1 norms of the groups as a penalty, projected at the end",
        ),
        (
            "tvcs.first-order",
            ".solvers.first_order:FirstOrderProjection",
            "Projection onto a three-view set by the paper's projected gradient; for p up to 400",
        ),
        (
            "tvcs.pdhg",
            ".solvers.pdhg:PrimalDualProjection",
            "Projection onto a three-view set by restarted primal-dual steps",
        ),
        (
            "tvcs.greedy",
            ".solvers.greedy:GreedyProjection",
            "Largest entries first onto a three-view set; not exact, says what it loses at most",
        ),
        (
            "tvcs.select",
            ".selection.solver:SelectItems",
            "The best choice of items within bounds on groups, with prices and proof",
        ),
        (
            "tvcs.assignment-iht",
            ".assignment.solvers:AssignmentIHT",
            "Stochastic iterative hard thresholding on the smoothed expected accuracy",
        ),
        (
            "tvcs.assignment-by-quality",
            ".assignment.solvers:AssignmentByQuality",
            "The assignment with the greatest sum of qualities, by the exact linear program",
        ),
        (
            "tvcs.assignment-random",
            ".assignment.solvers:RandomAssignment",
            "A random assignment that uses the caps as far as possible",
        ),
    ),
    "data set": (
        (
            "sparse.planted-regression",
            ".datasets.planted:PlantedRegression",
            "Gaussian samples of a matrix with a three-view support: regression",
        ),
        (
            "sparse.planted-classification",
            ".datasets.planted:PlantedClassification",
            "Gaussian samples of a matrix with a three-view support: classification",
        ),
        (
            "assignment.uniform",
            ".datasets.assignments:UniformQualities",
            "Qualities of workers for tasks, uniform between .5 and .9, caps as ratios",
        ),
        (
            "grn.random-network",
            ".datasets.gene_networks:RandomNetwork",
            "A drawn network of 30 genes with bounded degrees, linear dynamics and noise",
        ),
        *(
            (
                f"grn.dream4-10.{k}",
                f".datasets.gene_networks:Dream4Of10Number{k}",
                f"DREAM4 network {k} of ten genes: 105 points, {edges} edges",
            )
            for k, edges in enumerate((15, 16, 15, 13, 12), start=1)
        ),
        *(
            (
                f"grn.dream4-100.{k}",
                f".datasets.gene_networks:Dream4Of100Number{k}",
                f"DREAM4 network {k} of a hundred genes: 210 points, {edges} edges",
            )
            for k, edges in enumerate((176, 249), start=1)
        ),
    ),
    "objective": (
        (
            "assignment-loss",
            ".assignment.objective:AssignmentLoss",
            "Smoothed expected share of wrong labels of an assignment, over drawn answers",
        ),
        (
            "network-least-squares",
            ".networks.objective:NetworkLeastSquares",
            "Least squares for a network of effects without self-edges, in matrix form",
        ),
    ),
    "constraint set": (
        (
            "three-view",
            ".sets.three_view:ThreeView",
            "Few nonzeros in all, in each group of one view and in each group of another",
        ),
        (
            "three-view-box",
            ".sets.boxed_three_view:BoxedThreeView",
            "The same with entries from 0 to 1: assignments, relaxed",
        ),
    ),
}
