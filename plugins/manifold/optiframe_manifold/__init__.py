"""Collaborative ranking and fixed-rank optimization: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_manifold.estimator import CollaborativeRanker as CollaborativeRanker
    from optiframe_manifold.low_rank import LowRank as LowRank
    from optiframe_manifold.low_rank import Rank as Rank
    from optiframe_manifold.objective.btl import BtlObjective as BtlObjective
    from optiframe_manifold.plots.methods import plot_convergence as plot_convergence
    from optiframe_manifold.plots.methods import plot_error as plot_error
    from optiframe_manifold.plots.methods import plot_time as plot_time
    from optiframe_manifold.sets.manifold_set import ManifoldSet as ManifoldSet
    from optiframe_manifold.sets.manifold_set import QuotientSet as QuotientSet
    from optiframe_manifold.tools.intervals import intervals as intervals
    from optiframe_manifold.tools.next_pairs import suggest as suggest
    from optiframe_manifold.tools.rank_choice import choose_rank as choose_rank
    from optiframe_manifold.tools.updating import update as update
    from optiframe_manifold.trust.certificate import second_order as second_order

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    former={
        "prepare": "nothing, kernels are compiled when the package is installed",
        "suggest_pairs": "suggest",
        "score_intervals": "intervals",
    },
)


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "problem": (
        (
            "collaborative-ranking",
            ".problem:CollaborativeRanking",
            "Find a ranking of the items for every user, from a few comparisons by each",
        ),
    ),
    "solver": (
        (
            "manifold.trust-region",
            ".solvers.trust_region:TrustRegion",
            "Riemannian trust region over matrices of a fixed rank (PRTRS)",
        ),
        (
            "btl.personal",
            ".solvers.personal:PersonalRankings",
            "Personal rankings where they predict better than one ranking for all, and else that one",
        ),
        (
            "manifold.pymanopt",
            ".baselines.pymanopt_solver:Pymanopt",
            "pymanopt's trust region or conjugate gradients on the same manifold",
        ),
        (
            "pymanopt.steepest-descent",
            ".baselines.pymanopt_optimizers:SteepestDescent",
            "pymanopt's gradient descent over a manifold: sphere, stiefel, grassmann, ...",
        ),
        (
            "pymanopt.conjugate-gradient",
            ".baselines.pymanopt_optimizers:ConjugateGradient",
            "pymanopt's conjugate gradients over a manifold, from gradients",
        ),
        (
            "pymanopt.trust-regions",
            ".baselines.pymanopt_optimizers:TrustRegions",
            "pymanopt's trust region over a manifold, from gradients and Hessian products",
        ),
        (
            "manifold.lbfgs",
            ".baselines.lbfgs:FactorLBFGS",
            "SciPy's L-BFGS on the two factors of a low-rank matrix",
        ),
        (
            "btl.bfgd",
            ".baselines.bfgd:BiFactoredGradientDescent",
            "Gradient descent on both factors with a log barrier for the largest score (BFGDB)",
        ),
        (
            "btl.spg",
            ".baselines.spg:SpectralProjectedGradient",
            "Spectral projected gradients on a ball of the nuclear norm (SPG)",
        ),
        (
            "btl.convex",
            ".baselines.convex:ConvexRelaxation",
            "The same convex relaxation by CVXPY, for tiny cases",
        ),
    ),
    "data set": (
        (
            "collaborative.low-rank",
            ".datasets.generators:LowRankScores",
            "Users whose scores are of low rank, compared at random",
        ),
        (
            "collaborative.human-age",
            ".datasets.published:HumanAge",
            "Who looks older, by worker: 14,011 comparisons of 30 faces by 94 workers",
        ),
        (
            "collaborative.world-college",
            ".datasets.published:WorldCollege",
            "Where people would rather study: 8,823 comparisons of 261 universities by 340 workers",
        ),
    ),
    "objective": (
        (
            "bradley-terry-low-rank",
            ".objective.btl:BtlObjective",
            "Users' comparisons under Bradley-Terry-Luce with low-rank scores, and a penalty",
        ),
        (
            "known-entries",
            ".objective.completion:KnownEntries",
            "Half the squared misfit to the known entries of a low-rank matrix",
        ),
        (
            "of-matrix",
            ".objective.dense_objective:OfMatrix",
            "A function of a whole matrix, taken at the product of two factors",
        ),
    ),
    "constraint set": (
        ("rank", ".low_rank:Rank", "Matrices of at most a given rank, as pairs of factors"),
        (
            "positive-rank-one",
            ".geometry.positive_rank_one:PositiveRankOne",
            "Symmetric positive semidefinite matrices x x', each by its vector x",
        ),
        ("sphere", ".sets.spheres:Sphere", "Arrays whose squared entries sum to one"),
        ("oblique", ".sets.spheres:Oblique", "Matrices whose columns have length one"),
        (
            "elliptope",
            ".sets.spheres:Elliptope",
            "Correlation matrices Y Y' of low rank, each by its factor Y",
        ),
        ("stiefel", ".sets.orthonormal:Stiefel", "Matrices with orthonormal columns"),
        ("grassmann", ".sets.orthonormal:Grassmann", "Subspaces, each by orthonormal columns that span it"),
        ("rotations", ".sets.orthonormal:Rotations", "Orthogonal matrices of determinant one"),
        (
            "positive-definite",
            ".sets.definite:PositiveDefinite",
            "Symmetric matrices whose eigenvalues are above zero",
        ),
        (
            "psd-fixed-rank",
            ".sets.definite:PsdFixedRank",
            "Symmetric positive semidefinite matrices Y Y' of a given rank, each by its factor Y",
        ),
    ),
}
