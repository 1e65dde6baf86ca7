"""Distributed Newton steps that withstand hostile workers: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_comrade.backends.backend import Backend as Backend
    from optiframe_comrade.backends.dask_rows import DaskRows as DaskRows
    from optiframe_comrade.local.per_sample import mean_of as mean_of
    from optiframe_comrade.messages import Broadcast as Broadcast
    from optiframe_comrade.messages import Fault as Fault
    from optiframe_comrade.messages import Reply as Reply
    from optiframe_comrade.parts.filters import FromCallable as FromCallable
    from optiframe_comrade.parts.kinds import Attack as Attack
    from optiframe_comrade.parts.kinds import Compressor as Compressor
    from optiframe_comrade.parts.kinds import Filter as Filter
    from optiframe_comrade.parts.kinds import Selecting as Selecting
    from optiframe_comrade.parts.kinds import Situation as Situation
    from optiframe_comrade.plots.progress_curves import curves as curves
    from optiframe_comrade.plots.progress_curves import least_objective as least_objective
    from optiframe_comrade.plots.runs import plot_attacks as plot_attacks
    from optiframe_comrade.plots.runs import plot_left_out as plot_left_out
    from optiframe_comrade.plots.runs import plot_progress as plot_progress
    from optiframe_comrade.protocol.ledger import Ledger as Ledger
    from optiframe_comrade.protocol.workers import Workers as Workers
    from optiframe_comrade.trust.theory import advice as advice

# No module may be called as what it exports: once imported, it would stand in its place.
# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    former={
        "suspicion": "that of the Ledger: result.detail.suspicion()",
        "Home": "Backend",
    },
)


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "problem": (
        (
            "linear-classification",
            ".problem:LinearClassification",
            "Fit a linear classifier with an L2 term, with test rows to judge it by",
        ),
    ),
    "solver": (
        (
            "newton.comrade",
            ".solvers.comrade:Comrade",
            "Averages the workers' own Newton updates without outliers: one round a step",
        ),
        (
            "newton.polished",
            ".solvers.polished:Polished",
            "COMRADE until its error floor, then steps with the averaged gradient",
        ),
        (
            "newton.giant",
            ".solvers.giant:Giant",
            "GIANT: Newton steps with the averaged gradient, two rounds a step",
        ),
        (
            "newton.robust-giant",
            ".solvers.giant:RobustGiant",
            "GIANT without the workers of greatest gradient",
        ),
        ("newton.exact", ".baselines.exact:Exact", "Newton's method on all data in one place"),
        (
            "gradient.robust",
            ".solvers.robust_gradient:RobustGradient",
            "Gradient descent on a filtered average of the workers' gradients",
        ),
    ),
    "data set": (
        ("libsvm.a9a", ".datasets.classification:A9a", "Census income: 32,561 x 123, sparse, with test rows"),
        ("libsvm.w5a", ".datasets.classification:W5a", "Web pages: 9,888 x 300, sparse, with test rows"),
        (
            "synthetic.covtype-shape",
            ".datasets.classification:CovtypeShape",
            "Generated, of covtype's shape: 581,012 x 54",
        ),
        (
            "synthetic.epsilon-shape",
            ".datasets.classification:EpsilonShape",
            "Generated, of epsilon's width: 40,000 x 2,000",
        ),
    ),
    "part": (
        ("attack.none", ".parts.kinds:Honest", "No attack: hostile workers in name only"),
        ("compressor.none", ".parts.kinds:Nothing", "No compression: eight bytes a number"),
        ("backend.in-process", ".backends.backend:InProcessBackend", "Simulated workers in this process"),
        (
            "backend.flower",
            ".backends.flower.local_backend:FlowerBackend",
            "Flower nodes on this machine, as processes on loopback",
        ),
        (
            "backend.dask",
            ".backends.dask_backend:DaskBackend",
            "Actors on a Dask cluster, of machines you own",
        ),
        # Filters
        (
            "filter.hessian-metric",
            ".parts.hessian_metric:HessianMetric",
            "Averages updates that agree, by distances in the Hessian's metric",
        ),
        ("filter.mean", ".parts.filters:Mean", "The plain mean; leaves nobody out"),
        ("filter.norm", ".parts.filters:Norm", "Leaves out the vectors of greatest norm"),
        (
            "filter.distance-to-median",
            ".parts.filters:DistanceToMedian",
            "Leaves out the vectors farthest from the coordinate-wise median",
        ),
        ("filter.coordinate-median", ".parts.filters:CoordinateMedian", "The median of each coordinate"),
        (
            "filter.trimmed-mean",
            ".parts.filters:TrimmedMean",
            "The mean of each coordinate without its extreme values",
        ),
        ("filter.geometric-median", ".parts.filters:GeometricMedian", "The point of least summed distance"),
        ("filter.krum", ".parts.filters:Krum", "The one vector nearest to its nearest others"),
        (
            "filter.multi-krum",
            ".parts.filters:MultiKrum",
            "The mean of the vectors nearest to their nearest others",
        ),
        ("filter.meamed", ".parts.filters:Meamed", "The mean of each coordinate around its median"),
        (
            "filter.nnm",
            ".parts.filters:NearestNeighbourMixing",
            "Another filter on vectors mixed with their nearest ones",
        ),
        # Attacks
        ("attack.negative", ".parts.attacks:Negative", "Sends -c times the update"),
        ("attack.flipped-labels", ".parts.attacks:FlippedLabels", "Learns from labels of the wrong sign"),
        ("attack.random-labels", ".parts.attacks:RandomLabels", "Learns from labels tossed by a coin"),
        ("attack.gaussian", ".parts.attacks:GaussianNoise", "Adds Gaussian noise of a given deviation"),
        (
            "attack.collusion",
            ".parts.attacks:Collusion",
            "All send one vector as long as norm trimming lets pass",
        ),
        ("attack.alie", ".parts.attacks:ALittleIsEnough", "Hides within the spread of the honest vectors"),
        ("attack.inner-product", ".parts.attacks:InnerProduct", "Sends the honest mean, negative and short"),
        ("attack.mimic", ".parts.attacks:Mimic", "All copy one honest worker"),
        ("attack.steep", ".parts.steepest:Steep", "Goes as far uphill as the filter still keeps"),
        (
            "attack.steep-by-metric",
            ".parts.steepest:SteepByMetric",
            "Goes as far as the filter's metric leaves room for most harm",
        ),
        ("attack.greedy", ".parts.steepest:Greedy", "Searches for the lies of most harm each round"),
        # Faults
        ("attack.crash", ".parts.faults:Crash", "Dies and never replies again"),
        ("attack.hang", ".parts.faults:Hang", "Never answers"),
        ("attack.late", ".parts.faults:LateReply", "Answers when the round is over"),
        ("attack.replay", ".parts.faults:Replay", "Sends the answer to an old round"),
        ("attack.nan", ".parts.faults:NotANumber", "Sends nan in every place"),
        ("attack.infinity", ".parts.faults:Infinity", "Sends infinity in every place"),
        ("attack.wrong-shape", ".parts.faults:WrongShape", "Sends a number, or byte, too few"),
        ("attack.wrong-dtype", ".parts.faults:WrongType", "Sends numbers of the wrong type"),
        ("attack.huge", ".parts.faults:HugeMessage", "Sends a gigabyte"),
        ("attack.malformed", ".parts.faults:Malformed", "Sends bytes that mean nothing"),
        # Compressors
        (
            "compressor.qsgd",
            ".parts.compressors:QSGD",
            "Stochastic rounding to levels of the largest entry; unbiased",
        ),
        ("compressor.l1-qsgd", ".parts.compressors:L1QSGD", "Stochastic rounding to levels of the l1 norm"),
        ("compressor.top-k", ".parts.compressors:TopK", "The k largest entries"),
        ("compressor.rand-k", ".parts.compressors:RandK", "k entries drawn at random, not rescaled"),
        ("compressor.sign", ".parts.compressors:ScaledSign", "Signs times the mean absolute entry"),
    ),
}
