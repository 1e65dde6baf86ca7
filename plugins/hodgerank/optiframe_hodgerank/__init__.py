"""Robust ranking from paired comparisons: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_hodgerank.estimator import RobustRanker as RobustRanker
    from optiframe_hodgerank.plots.methods import plot_ranks as plot_ranks
    from optiframe_hodgerank.plots.methods import plot_roc as plot_roc
    from optiframe_hodgerank.plots.paths import plot_outliers as plot_outliers
    from optiframe_hodgerank.plots.paths import plot_path as plot_path
    from optiframe_hodgerank.solvers.bootstrap import bootstrap as bootstrap
    from optiframe_hodgerank.tools.identifiability import conditions as conditions
    from optiframe_hodgerank.tools.next_pairs import suggest as suggest
    from optiframe_hodgerank.tools.streaming import flagged as flagged
    from optiframe_hodgerank.tools.streaming import merge_stream as merge_stream
    from optiframe_hodgerank.tools.streaming import parquet_chunks as parquet_chunks
    from optiframe_hodgerank.trust.hodge_parts import hodge_split as hodge_split
    from optiframe_hodgerank.trust.knockoffs import position_bias as position_bias
    from optiframe_hodgerank.trust.triplets import transitivity as transitivity
    from optiframe_hodgerank.trust.triplets import worker_transitivity as worker_transitivity

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    {
        "plots.methods": ("plot_ranks", "plot_roc"),
        "estimator": ("RobustRanker",),
        "trust.hodge_parts": ("hodge_split",),
        "tools.identifiability": ("conditions",),
        "trust.knockoffs": ("position_bias",),
        "tools.next_pairs": ("suggest",),
        "plots.paths": ("plot_outliers", "plot_path"),
        "solvers.bootstrap": ("bootstrap",),
        "tools.streaming": ("flagged", "merge_stream", "parquet_chunks"),
        "trust.triplets": ("transitivity", "worker_transitivity"),
    },
)

_HERE = "optiframe_hodgerank."


@hookimpl
def optiframe_problems() -> list[Description]:
    return [
        Description(
            "pairwise-ranking",
            _HERE + "problem:PairwiseRanking",
            "Find scores of items from paired comparisons, some of which are wrong",
        )
    ]


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [
        Description(
            "hodge.l2",
            _HERE + "solvers.least_squares:LeastSquares",
            "Least-squares scores by the graph Laplacian, with intervals",
        ),
        Description(
            "hodge.hlasso",
            _HERE + "solvers.huber_lasso:HuberLasso",
            "Huber-LASSO: scores and outliers along the whole regularization path",
        ),
        Description(
            "hodge.hlasso-l2",
            _HERE + "solvers.refit:HuberLassoRefit",
            "Huber-LASSO, then least squares without the comparisons it took for outliers",
        ),
        Description(
            "hodge.lbi",
            _HERE + "solvers.lbi:LinearizedBregman",
            "Linearized Bregman iteration: a path of outliers with little bias",
        ),
        Description(
            "hodge.iss",
            _HERE + "solvers.inverse_scale:InverseScaleSpace",
            "Inverse scale space: the limit of linearized Bregman iteration, exactly",
        ),
        Description(
            "hodge.iht",
            _HERE + "solvers.thresholding:IterativeHardThresholding",
            "Iterative hard thresholding: a given number of outliers",
        ),
        Description(
            "hodge.ilts",
            _HERE + "solvers.thresholding:IterativeLeastTrimmedSquares",
            "Iterative least trimmed squares: a given number of comparisons left out",
        ),
        Description(
            "hodge.capped",
            _HERE + "solvers.capped:CappedThresholding",
            "Hard thresholding with the outliers capped in total, per annotator and per pair",
        ),
        Description(
            "hodge.bradley-terry",
            _HERE + "solvers.bradley_terry:BradleyTerry",
            "Maximum-likelihood scores of the Bradley-Terry model, with a weak prior",
        ),
        Description(
            "hodge.bootstrap",
            _HERE + "solvers.bootstrap:BootstrapIntervals",
            "Any of these with intervals of scores and ranks, from comparisons drawn again",
        ),
    ]


@hookimpl
def optiframe_objectives() -> list[Description]:
    return [
        Description(
            "huber-differences",
            _HERE + "huber.objective:HuberDifferences",
            "Huber's loss of the misfit between margins and differences of scores",
        )
    ]


@hookimpl
def optiframe_datasets() -> list[Description]:
    files, drawn = _HERE + "datasets.published:", _HERE + "datasets.generators:"
    return [
        Description(
            "pairwise.pc-vqa", files + "PcVqa", "Quality of videos: 38,400 comparisons, 10 references x 16"
        ),
        Description(
            "pairwise.pc-iqa", files + "PcIqa", "Quality of images: 23,097 comparisons, 15 references x 16"
        ),
        Description(
            "pairwise.pc-iqa-extended",
            files + "PcIqaExtended",
            "Quality of images, the larger collection: 43,265 comparisons",
        ),
        Description(
            "pairwise.pc-iqa-workers",
            files + "PcIqaWorkers",
            "Quality of images, reference 1 with its 172 workers: 4,429 comparisons",
        ),
        Description(
            "pairwise.human-age", files + "HumanAge", "Who looks older: 14,011 comparisons of 30 faces"
        ),
        Description(
            "pairwise.world-college",
            files + "WorldCollege",
            "Which university is preferred: 8,823 comparisons of 261",
        ),
        Description(
            "pairwise.random-order",
            drawn + "RandomOrder",
            "A random total order compared at random, some comparisons reversed",
        ),
        Description("pairwise.bias", drawn + "Bias", "Margins with Gaussian noise and a few large outliers"),
        Description(
            "pairwise.image",
            drawn + "Image",
            "An image from differences of near pixels, some of them wrong: 346,737 comparisons",
        ),
        Description(
            "pairwise.bipartite", drawn + "Bipartite", "Good items against bad ones, some votes flipped"
        ),
    ]
