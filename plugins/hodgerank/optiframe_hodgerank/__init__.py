"""Robust ranking from paired comparisons: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_hodgerank.estimator import RobustRanker as RobustRanker
    from optiframe_hodgerank.listwise.estimator import ListwiseRanker as ListwiseRanker
    from optiframe_hodgerank.plots.leaderboard import plot_leaderboard as plot_leaderboard
    from optiframe_hodgerank.plots.leaderboard import plot_win_probabilities as plot_win_probabilities
    from optiframe_hodgerank.plots.methods import plot_ranks as plot_ranks
    from optiframe_hodgerank.plots.methods import plot_roc as plot_roc
    from optiframe_hodgerank.plots.paths import plot_outliers as plot_outliers
    from optiframe_hodgerank.plots.paths import plot_path as plot_path
    from optiframe_hodgerank.tools.identifiability import conditions as conditions
    from optiframe_hodgerank.tools.intervals import intervals as intervals
    from optiframe_hodgerank.tools.leaderboard import leaderboard as leaderboard
    from optiframe_hodgerank.tools.next_pairs import suggest as suggest
    from optiframe_hodgerank.tools.streaming import flagged as flagged
    from optiframe_hodgerank.tools.streaming import merge_stream as merge_stream
    from optiframe_hodgerank.tools.streaming import parquet_chunks as parquet_chunks
    from optiframe_hodgerank.tools.win_probabilities import win_probabilities as win_probabilities
    from optiframe_hodgerank.trust.hodge_parts import hodge_split as hodge_split
    from optiframe_hodgerank.trust.knockoffs import position_bias as position_bias
    from optiframe_hodgerank.trust.triplets import transitivity as transitivity
    from optiframe_hodgerank.trust.triplets import worker_transitivity as worker_transitivity

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    former={
        "suggest_pairs": "suggest",
        "bootstrap": "intervals with method='bootstrap', or the solver hodge.bootstrap",
    },
)


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "problem": (
        (
            "pairwise-ranking",
            ".problem:PairwiseRanking",
            "Find scores of items from paired comparisons, some of which are wrong",
        ),
        (
            "listwise-ranking",
            ".listwise.problem:ListwiseRanking",
            "Find scores of items from rankings of several of them, and from choices out of sets",
        ),
    ),
    "solver": (
        (
            "hodge.l2",
            ".solvers.least_squares:LeastSquares",
            "Least-squares scores by the graph Laplacian, with intervals",
        ),
        (
            "hodge.hlasso",
            ".solvers.huber_lasso:HuberLasso",
            "Huber-LASSO: scores and outliers along the whole regularization path",
        ),
        (
            "hodge.hlasso-l2",
            ".solvers.refit:HuberLassoRefit",
            "Huber-LASSO, then least squares without the comparisons it took for outliers",
        ),
        (
            "hodge.lbi",
            ".solvers.lbi:LinearizedBregman",
            "Linearized Bregman iteration: a path of outliers with little bias",
        ),
        (
            "hodge.iss",
            ".solvers.inverse_scale:InverseScaleSpace",
            "Inverse scale space: the limit of linearized Bregman iteration, exactly",
        ),
        (
            "hodge.iht",
            ".solvers.thresholding:IterativeHardThresholding",
            "Iterative hard thresholding: a given number of outliers",
        ),
        (
            "hodge.ilts",
            ".solvers.thresholding:IterativeLeastTrimmedSquares",
            "Iterative least trimmed squares: a given number of comparisons left out",
        ),
        (
            "hodge.capped",
            ".solvers.capped:CappedThresholding",
            "Hard thresholding with the outliers capped in total, per annotator and per pair",
        ),
        (
            "hodge.bradley-terry",
            ".solvers.bradley_terry:BradleyTerry",
            "Maximum-likelihood scores of the Bradley-Terry model, with ties and a weak prior",
        ),
        (
            "ranking.crowd-bt",
            ".solvers.crowd_bt:CrowdBradleyTerry",
            "Bradley-Terry scores and reliability of workers together (CrowdBT), with intervals",
        ),
        (
            "ranking.plackett-luce",
            ".solvers.plackett_luce:PlackettLuce",
            "Maximum-likelihood scores from rankings of several items and choices from sets (Plackett-Luce)",
        ),
        (
            "hodge.bootstrap",
            ".solvers.bootstrap:BootstrapIntervals",
            "Any of these with intervals of scores and ranks, from comparisons drawn again",
        ),
        ("ranking.suggest", ".solvers.suggest:Suggest", "Any of these with the pairs to compare next"),
    ),
    "data set": (
        (
            "pairwise.pc-vqa",
            ".datasets.published:PcVqa",
            "Quality of videos: 38,400 comparisons, 10 references x 16",
        ),
        (
            "pairwise.pc-iqa",
            ".datasets.published:PcIqa",
            "Quality of images: 23,097 comparisons, 15 references x 16",
        ),
        (
            "pairwise.pc-iqa-extended",
            ".datasets.published:PcIqaExtended",
            "Quality of images, the larger collection: 43,265 comparisons",
        ),
        (
            "pairwise.pc-iqa-workers",
            ".datasets.published:PcIqaWorkers",
            "Quality of images, reference 1 with its 172 workers: 4,429 comparisons",
        ),
        (
            "pairwise.human-age",
            ".datasets.published:HumanAge",
            "Who looks older: 14,011 comparisons of 30 faces",
        ),
        (
            "pairwise.world-college",
            ".datasets.published:WorldCollege",
            "Which university is preferred: 8,823 comparisons of 261",
        ),
        (
            "pairwise.random-order",
            ".datasets.generators:RandomOrder",
            "A random total order compared at random, some comparisons reversed",
        ),
        (
            "pairwise.bias",
            ".datasets.generators:Bias",
            "Margins with Gaussian noise and a few large outliers",
        ),
        (
            "pairwise.image",
            ".datasets.generators:Image",
            "An image from differences of near pixels, some of them wrong: 346,737 comparisons",
        ),
        (
            "pairwise.bipartite",
            ".datasets.generators:Bipartite",
            "Good items against bad ones, some votes flipped",
        ),
        (
            "rankings.plackett-luce",
            ".datasets.rankings:DrawnRankings",
            "Rankings of several items drawn from the Plackett-Luce model",
        ),
    ),
    "objective": (
        (
            "huber-differences",
            ".huber.objective:HuberDifferences",
            "Huber's loss of the misfit between margins and differences of scores",
        ),
    ),
}
